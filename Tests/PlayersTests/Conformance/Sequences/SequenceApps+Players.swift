import AVFoundation
import BitmovinPlayer
import Foundation
import JWPlayerKit
import JWPlayer_iOS_SDK
import LatchkeyBitmovin
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyOpenTV
import LatchkeyReactNativeVideo
import LatchkeyTHEOplayer
import LatchkeyTVSDK
import LatchkeyTesting
import OPYSDKFPS
import PSDKLibrary
import ReactNativeVideo
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

// MARK: - Players on AVFoundation

// Sound: used by one task at a time.
final class ReactNativeApp: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private let plugin: ReactNativeVideoKeys
    private var players: [Int: HybridVideoPlayer] = [:]

    init(_ setup: SequenceSetup) {
        self.setup = setup
        plugin = ReactNativeVideoKeys(setup.loader, onFailure: setup.failures.add)
    }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        players[player] = nil
        let parameters = NativeDrmParams(
            type: "fairplay", licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil,
            multiSession: nil, getLicense: nil)
        let source = NativeVideoConfig(uri: setup.url(title).absoluteString, drm: parameters)
        let made = HybridVideoPlayer(config: source)
        players[player] = made
        try await made.play()
        return Playing(try #require(made.standIn))
    }

    func stop(_ player: Int) async { players[player] = nil }
    func drop(_ player: Int) async { players[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        plugin.suspend()
        return [0, 1, 2]
    }

    func resume(_ player: Int) async -> Set<Int> {
        plugin.resume()
        return [0, 1, 2]
    }
}

// Sound: used by one task at a time.
final class ConnectApp: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private let keys: OpenTVKeys
    private var players: [Int: OTVAVPlayer] = [:]

    init(_ setup: SequenceSetup) {
        self.setup = setup
        keys = OpenTVKeys(setup.loader, deadline: .seconds(600), onFailure: setup.failures.add)
        OTVSDK.load()
        OTVDRMManager.shared.setLicenseDelegate(keys)
    }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        players[player] = nil
        let made = OTVAVPlayer(url: setup.url(title))
        players[player] = made
        await made.play()
        return Playing(try #require(made.currentItem).standIn)
    }

    func stop(_ player: Int) async { players[player] = nil }
    func drop(_ player: Int) async { players[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        keys.suspend()
        return [0, 1, 2]
    }

    func resume(_ player: Int) async -> Set<Int> {
        keys.resume()
        return [0, 1, 2]
    }
}

// Sound: used by one task at a time.
final class TVSDKSequenceApp: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private let keys: TVSDKKeys
    private var players: [Int: PTMediaPlayer] = [:]

    init(_ setup: SequenceSetup) {
        self.setup = setup
        keys = TVSDKKeys(setup.loader, onFailure: setup.failures.add)
        keys.register()
    }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        let item = try #require(PTMediaPlayerItem(url: setup.url(title), mediaId: "demo", metadata: PTMetadata()))
        let made = try #require(PTMediaPlayer(mediaPlayerItem: item))
        players[player] = made
        made.play()
        return Playing(made.standIn)
    }

    func stop(_ player: Int) async { players[player] = nil }
    func drop(_ player: Int) async { players[player] = nil }
}

// MARK: - Players with their own playbacks

// Sound: used by one task at a time.
final class JW4App: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private var screens: [Int: (view: JWPlayerView, keys: JWPlayerKeys)] = [:]

    init(_ setup: SequenceSetup) { self.setup = setup }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        screens[player]?.keys.release()
        let screen = screens[player] ?? make()
        screens[player] = screen
        let item = try JWPlayerItemBuilder().file(setup.url(title)).build()
        screen.view.player.configurePlayer(with: try JWPlayerConfigurationBuilder().playlist(items: [item]).build())
        screen.view.player.play()
        return try Playing(screen.view.standIn.playback)
    }

    private func make() -> (view: JWPlayerView, keys: JWPlayerKeys) {
        let keys = JWPlayerKeys(setup.loader, timekeeper: setup.stage.time, onFailure: setup.failures.add)
        let view = JWPlayerView()
        view.player.contentKeyDataSource = keys
        return (view, keys)
    }

    func stop(_ player: Int) async {
        screens[player]?.view.player.stop()
        screens[player]?.keys.release()
    }

    func drop(_ player: Int) async { screens[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        screens[player]?.keys.suspend()
        return []
    }

    func resume(_ player: Int) async -> Set<Int> {
        screens[player]?.keys.resume()
        return []
    }
}

// Sound: used by one task at a time.
final class JW3App: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private var screens: [Int: (player: JWPlayerController, keys: JWPlayerKeys)] = [:]

    init(_ setup: SequenceSetup) { self.setup = setup }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        let config = JWConfig(contentURL: setup.url(title).absoluteString)
        if let screen = screens[player] {
            screen.keys.release()
            screen.player.load(config)
        } else {
            let keys = JWPlayerKeys(setup.loader, timekeeper: setup.stage.time, onFailure: setup.failures.add)
            let made = try #require(JWPlayerController(config: config, delegate: nil, drmDataSource: keys))
            screens[player] = (made, keys)
        }
        let screen = try #require(screens[player])
        screen.player.play()
        return try Playing(screen.player.standIn.playback)
    }

    func stop(_ player: Int) async {
        screens[player]?.player.stop()
        screens[player]?.keys.release()
    }

    func drop(_ player: Int) async { screens[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        screens[player]?.keys.suspend()
        return []
    }

    func resume(_ player: Int) async -> Set<Int> {
        screens[player]?.keys.resume()
        return []
    }
}

// Sound: used by one task at a time.
final class THEOSequenceApp: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private let keys: THEOplayerKeys
    private var players: [Int: THEOplayer] = [:]

    init(_ setup: SequenceSetup) {
        self.setup = setup
        keys = THEOplayerKeys(setup.loader, onFailure: setup.failures.add)
        keys.register(as: "test")
    }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        let made = players[player] ?? THEOplayer()
        players[player] = made
        made.source = setup.stage.source(title.stream, for: setup.profile)
        made.play()
        return try Playing(made.standIn.playback)
    }

    func stop(_ player: Int) async { players[player]?.source = nil }
    func drop(_ player: Int) async { players[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        keys.suspend()
        return []
    }

    func resume(_ player: Int) async -> Set<Int> {
        keys.resume()
        return []
    }
}

/// An app that renews each license after three quarters of its lease and reports failures, because the player does neither.
// Sound: used by one task at a time.
final class BitmovinApp: SequenceApp, @unchecked Sendable {
    private final class Renewals: NSObject, SourceListener, Sendable {
        /// How often a key's license came, and was asked for again.
        struct Count {
            var licenses = 0
            var renewals = 0
        }

        /// The keys of the playing sources. A source that has stopped holds no keys.
        let sources = Locked<[ObjectIdentifier: [String: Count]]>([:])
        private let time: ManualTimekeeper
        private let failures: FailureLog

        init(_ setup: SequenceSetup) { (time, failures) = (setup.stage.time, setup.failures) }

        /// Whether a requested license has not arrived.
        func awaits(of source: any Source) -> Bool {
            let counts = sources.withLock { $0[ObjectIdentifier(source)] }
            let usable = source.standIn?.playback?.usableKeys(for: .zero) ?? []
            return counts.map { counts in
                counts.values.contains { $0.renewals >= $0.licenses } || !usable.isSubset(of: counts.keys)
            } ?? false
        }

        func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source) {
            let (id, key, end) = (ObjectIdentifier(source), event.contentKeyRequest, time.uptime + SequenceRun.lease)
            let number = sources.withLock { sources in
                sources[id]?[key.skdUri, default: Count()].licenses += 1
                return sources[id]?[key.skdUri]?.licenses
            }
            guard number != nil else { return }
            Task { [time, sources, failures, weak source] in
                var due = end - SequenceRun.lease * 0.25
                while due < end {
                    guard (try? await time.sleep(until: due)) != nil, let source else { return }
                    let isDue = sources.withLock { sources in
                        guard time.uptime < end, sources[id]?[key.skdUri]?.licenses == number else { return false }
                        sources[id]?[key.skdUri]?.renewals = number ?? 0
                        return true
                    }
                    guard isDue else { return }
                    source.drm.fairplay.renewExpiringLicense(for: key)
                    due = time.uptime + .seconds(50)
                }
                failures.add(KeyFailure(player: NSError(domain: "license ended", code: 0)))
            }
        }

        /// The player sends the requests, and so it reports their outcomes; 2309 is a source that was unloaded.
        func onSourceError(_ event: SourceErrorEvent, source: any Source) {
            guard event.code != 2309 else { return }
            failures.add(KeyFailure(player: NSError(domain: "Bitmovin", code: event.code)))
        }
    }

    private let setup: SequenceSetup
    private let keys: BitmovinKeys
    private let renewals: Renewals
    private var players: [Int: any Player] = [:]

    init(_ setup: SequenceSetup) async throws {
        self.setup = setup
        let service = setup.service
        keys = try await BitmovinKeys(
            setup.stage.configured(setup.profile) { $0 != "sessionURL" }.unchecked,
            credentials: Credentials { _ in CredentialSet(["token": service.issueWithoutSession()]) },
            hosts: HostPolicy(loopback: .http), onFailure: setup.failures.add)
        renewals = Renewals(setup)
    }

    var isRenewing: Bool { players.values.compactMap(\.source).contains { renewals.awaits(of: $0) } }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        let config = SourceConfig(url: setup.url(title), type: .hls)
        keys.protect(config)
        let source = SourceFactory.create(from: config)
        source.add(listener: renewals)
        let made = players[player] ?? PlayerFactory.create()
        await stop(player)
        players[player] = made
        renewals.sources.withLock { $0[ObjectIdentifier(source)] = [:] }
        made.load(source: source)
        made.play()
        return try Playing(source.standIn?.playback)
    }

    func stop(_ player: Int) async {
        if let source = players[player]?.source {
            renewals.sources.withLock { $0[ObjectIdentifier(source)] = nil }
        }
        players[player]?.unload()
    }

    func drop(_ player: Int) async {
        await stop(player)
        players[player] = nil
    }
}
