import AVFoundation
import BitmovinPlayer
import JWPlayerKit
import LatchkeyBitmovin
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyOpenTV
import LatchkeyReactNativeVideo
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTHEOplayer
import LatchkeyTVSDK
import LatchkeyVendors
import OPYSDKFPS
import PSDKLibrary
import ReactNativeVideo
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

@testable import LatchkeyAVFoundation

/// If a player lets an adapter pass the title, it reaches credentials and failures.
@Suite(.timeLimit(.minutes(2))) struct AssetOfAdapterTests {
    enum Adapter: CaseIterable, Sendable {
        case resourceLoader, jwPlayer, theoPlayer, theoPlayerSending, openTV, tvSDK, bitmovin, reactNative
    }

    @Test(arguments: Adapter.allCases)
    func `credentials are requested with the title, and a failure names it`(_ adapter: Adapter) async throws {
        try await PlayerStage.with { stage in
            let (asked, failures) = (AskedCredentials(), FailureLog())
            stage.service(for: .vuDRM).faults.set(.status(404), at: .license)
            // Bitmovin's player checks the status itself, and its closures take one license address.
            stage.service(for: .drmToday).faults.set(.htmlPage, at: .license)
            await #expect(throws: (any Error).self) { try await play(adapter, stage, asked, failures) }
            await failures.until(1)
            #expect(asked.assets == ["movie-1"])
            #expect(failures.codes.allSatisfy { $0 == (adapter == .bitmovin ? "licenseMalformed" : "notFound") })
            #expect(failures.all.allSatisfy { $0.asset == "movie-1" })
        }
    }

    private func play(
        _ adapter: Adapter, _ stage: PlayerStage, _ asked: AskedCredentials, _ failures: FailureLog
    ) async throws {
        let loader = stage.loader(asking: asked.add)
        let url = stage.playlist()
        switch adapter {
        case .resourceLoader:
            let keys = ResourceLoaderKeys(loader, onFailure: failures.add)
            let asset = AVURLAsset(url: url)
            keys.protect(asset, as: "movie-1")
            _ = try await AVApp.play(asset)
            keys.release()
        case .jwPlayer:
            let keys = JWPlayerKeys(
                loader, timekeeper: stage.time, assetOf: { _ in "movie-1" }, onFailure: failures.add)
            let view = JWPlayerView()
            view.player.contentKeyDataSource = keys
            let item = try JWPlayerItemBuilder().file(url).build()
            view.player.configurePlayer(with: try JWPlayerConfigurationBuilder().playlist(items: [item]).build())
            view.player.play()
            _ = try await view.standIn.finished()
            keys.release()
        case .theoPlayer:
            let app = THEOApp(
                { _ in THEOplayerKeys(loader, assetOf: { _ in "movie-1" }, onFailure: failures.add) },
                playing: stage.source())
            _ = try await app.play()
        case .theoPlayerSending:
            let app = THEOApp(
                { _ in
                    THEOplayerKeys(
                        .vuDRM,
                        credentials: Credentials { request in
                            asked.add(request)
                            return CredentialSet(["token": stage.service(for: .vuDRM).issue(nil)])
                        },
                        sentBy: .player, configuration: stage.configuration, assetOf: { _ in "movie-1" },
                        onFailure: failures.add)
                }, playing: stage.source())
            _ = try await app.play()
        case .openTV:
            let app = OpenTVApp(stage) { _ in
                OpenTVKeys(loader, deadline: .seconds(60), assetOf: { _ in "movie-1" }, onFailure: failures.add)
            }
            _ = try await app.play(for: .vuDRM)
        case .tvSDK:
            let keys = TVSDKKeys(loader, assetOf: { _ in "movie-1" }, onFailure: failures.add)
            keys.register()
            let item = PTMediaPlayerItem(url: url, mediaId: "demo", metadata: PTMetadata())
            let player = try #require(PTMediaPlayer(mediaPlayerItem: item))
            player.play()
            _ = try await player.standIn.finished()
            keys.release()
        case .bitmovin:
            let config = SourceConfig(url: stage.playlist(for: .drmToday), type: .hls)
            let keys = try await BitmovinKeys(
                stage.configured(.drmToday).unchecked,
                credentials: Credentials { request in
                    asked.add(request)
                    return CredentialSet(["token": stage.service(for: .drmToday).issue(nil)])
                }, hosts: HostPolicy(loopback: .http), asset: "movie-1", onFailure: failures.add)
            keys.protect(config)
            let source = SourceFactory.create(from: config)
            let player = PlayerFactory.create()
            player.load(source: source)
            player.play()
            _ = try await #require(source.standIn).finished()
        case .reactNative:
            let plugin = ReactNativeVideoKeys(loader, assetOf: { _ in "movie-1" }, onFailure: failures.add)
            let parameters = NativeDrmParams(
                type: "fairplay", licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil,
                multiSession: nil, getLicense: nil)
            let player = HybridVideoPlayer(config: NativeVideoConfig(uri: url.absoluteString, drm: parameters))
            try await player.play()
            _ = try await #require(player.standIn).finished()
            withExtendedLifetime(plugin) {}
        }
    }
}
