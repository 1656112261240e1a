import BitmovinPlayer
import JWPlayerKit
import JWPlayer_iOS_SDK
import LatchkeyBitmovin
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyTHEOplayer
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

/// Players that ask by completion handlers, callback objects and closures.
extension PlayerUnderTest {
    static let jwPlayer = PlayerUnderTest(
        "JW Player 4", in: ["JWPlayer/JWPlayerKeyBridge", "JWPlayer/JWPlayerCalls", "JWPlayer/JWPlayerStoredKeys"],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsApp, .endsWithItsObjects, .renewal,
            .storedKeys,
        ], asksBy: "contentKeyWithSPCData", patience: .seconds(3)
    ) { setup in
        let stored = setup.folder.map { JWPlayerStoredKeys(in: $0) }
        let keys = Kept(
            JWPlayerKeyBridge(setup.loader, stored: stored, timekeeper: setup.stage.time) { error, _ in
                setup.errors.add(error.nsError)
            })
        let view = JWPlayerView()
        view.player.contentKeyDataSource = keys.object
        if let stored, let source = keys.object {
            view.player.contentLoader = JWDRMContentLoader(dataSource: source, keyManager: stored)
        }
        let item = try JWPlayerItemBuilder().file(setup.playlist).build()
        let configuration = try JWPlayerConfigurationBuilder().playlist(items: [item]).build()
        return AppUnderTest(
            play: {
                view.player.configurePlayer(with: configuration)
                view.player.play()
                defer { withExtendedLifetime(stored) {} }
                return try await view.standIn.finished()
            },
            leave: {
                view.player.stop()
                keys.object?.release()
            }, drop: { keys.drop() },
            store: { await view.player.contentLoader?.load(playlist: setup.playlist) })
    }

    static let jwPlayerV3 = PlayerUnderTest(
        "JW Player 3", in: ["JWPlayer/JWPlayerV3KeyBridge", "JWPlayer/JWPlayerCalls"],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsApp, .endsWithItsObjects, .renewal,
        ], asksBy: "fetchContentKey", patience: .seconds(3)
    ) { setup in
        let keys = Kept(
            JWPlayerV3KeyBridge(setup.loader, timekeeper: setup.stage.time) { error, _ in
                setup.errors.add(error.nsError)
            })
        let player = try #require(
            JWPlayerController(
                config: JWConfig(contentURL: setup.playlist.absoluteString), delegate: nil, drmDataSource: keys.object))
        return AppUnderTest(
            play: {
                player.play()
                return try await player.standIn.finished()
            },
            leave: {
                player.stop()
                keys.object?.release()
            }, drop: { keys.drop() })
    }

    static let theoPlayer = PlayerUnderTest(
        "THEOplayer", in: ["THEOplayer"],
        can: [
            .loaderRequests, .loaderHolds, .returnsAtOnce, .keysInParallel, .tellsPlayer, .endsWithItsObjects, .renewal,
            .anyURI,
        ], asksBy: "onLicenseRequest"
    ) { setup in
        THEOplayer.registerContentProtectionIntegration(
            integrationId: "test", keySystem: .FAIRPLAY,
            integrationFactory: THEOplayerKeyFactory(setup.loader) { [errors = setup.errors] error, _ in
                errors.add(error.nsError)
            })
        let player = Kept(THEOplayer())
        player.object?.source = setup.stage.source(setup.stream, for: setup.profile)
        return AppUnderTest(
            play: {
                player.object?.play()
                // The player itself may go before its stream ends.
                let standIn = try #require(player.object?.standIn)
                return try await standIn.finished()
            }, leave: { player.object?.source = nil }, drop: { player.drop() })
    }

    static let bitmovin = PlayerUnderTest(
        "Bitmovin", in: ["Bitmovin"], can: [.returnsAtOnce, .keysInParallel, .tellsApp, .renewal, .anyURI],
        asksBy: "prepareMessage"
    ) { setup in
        let (stage, service) = (setup.stage, setup.stage.service(for: setup.profile))
        // The player keeps no sessions.
        let sourceConfig = SourceConfig(url: setup.playlist, type: .hls)
        sourceConfig.drmConfig = try await FairplayConfig.latchkey(
            stage.configured(setup.profile) { $0 != "sessionURL" },
            credentials: Credentials { _ in CredentialSet(["token": service.issue(nil)]) },
            hosts: HostPolicy(loopback: .http), onError: { setup.errors.add($0) })
        let source = SourceFactory.create(from: sourceConfig)
        let licenses = Licenses()
        source.add(listener: licenses)
        // Sound: the player is used by one task at a time.
        nonisolated(unsafe) let player = PlayerFactory.create()
        return AppUnderTest(
            play: {
                player.load(source: source)
                player.play()
                return try await #require(source.standIn).finished()
            }, leave: { player.unload() }, drop: { player.destroy() },
            renew: { for request in licenses.all { source.drm.fairplay.renewExpiringLicense(for: request) } })
    }
}

/// The licenses that a source told of.
private final class Licenses: NSObject, SourceListener, Sendable {
    private let requests = Locked<[FairplayContentKeyRequest]>([])

    var all: [FairplayContentKeyRequest] { requests.withLock { $0 } }

    func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source) {
        requests.withLock { $0.append(event.contentKeyRequest) }
    }

    func onSourceError(_ event: SourceErrorEvent, source: any Source) {}
}
