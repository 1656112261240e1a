import AVFoundation
import BitmovinPlayer
import Foundation
import JWPlayerKit
import JWPlayer_iOS_SDK
import LatchkeyAVFoundation
import LatchkeyBitmovin
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyOpenTV
import LatchkeyReactNativeVideo
import LatchkeySimulation
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

/// An adapter in the sequences.
struct SequencePlayer: Sendable {
    let name: String
    /// The moves that apply to it.
    let kinds: Set<Move.Kind>
    /// Whether its player can renew a key.
    var renews = true
    /// Whether its player renews by its own reckoning: what is suspended still is renewed, and what failed is not asked for again.
    var renewsItself = false
    let make: @Sendable (SequenceSetup) async throws -> any SequenceApp

    static let all: [SequencePlayer] = [
        // A session here keeps its assets, so one that the app forgets without a release is never gone (Players.md §3.9b).
        SequencePlayer(name: "AVPlayerKeys, one for all players", kinds: Set(Move.Kind.allCases).subtracting([.drop])) {
            SessionApp($0, windows: 1)
        },
        SequencePlayer(name: "AVPlayerKeys, one for each player", kinds: Set(Move.Kind.allCases).subtracting([.drop])) {
            SessionApp($0, windows: 3)
        },
        SequencePlayer(
            name: "ProtectedPlayback",
            kinds: [.play, .drop, .away, .preload, .suspend, .reset, .renewEndedKeys, .store, .sessions]
        ) { await PlaybackApp($0) },
        SequencePlayer(
            name: "ResourceLoaderKeys", kinds: [.play, .overlap, .again, .drop, .away, .suspend, .sessions],
            renewsItself: true
        ) {
            LoaderApp($0)
        },
        SequencePlayer(name: "react-native-video", kinds: [.play, .drop, .away, .suspend, .sessions]) {
            ReactNativeApp($0)
        },
        SequencePlayer(name: "CONNECT", kinds: [.play, .drop, .away, .suspend, .sessions]) {
            ConnectApp($0)
        },
        SequencePlayer(name: "JW Player 4", kinds: [.play, .drop, .away, .sessions], renewsItself: true) { JW4App($0) },
        SequencePlayer(name: "JW Player 3", kinds: [.play, .drop, .away, .sessions], renewsItself: true) { JW3App($0) },
        SequencePlayer(name: "THEOplayer", kinds: [.play, .drop, .away, .sessions], renewsItself: true) {
            THEOSequenceApp($0)
        },
        SequencePlayer(name: "TVSDK", kinds: [.play, .drop, .away], renews: false) { TVSDKSequenceApp($0) },
        // The app renews the licenses, so that one that ends while the app is away is lost, and the adapter knows of none.
        SequencePlayer(name: "Bitmovin", kinds: [.play, .drop], renewsItself: true) { try await BitmovinApp($0) },
    ]
}

extension Playing {
    /// An item of AVFoundation.
    init(_ item: AVPlayerItem.StandIn) {
        self.init(
            finished: { try await item.finished() },
            keys: PlayingKeys(usable: { item.usableKeys(for: $0) }, session: { item.session }))
    }

    /// A player's own playback.
    init(_ playback: SourcePlayback?) throws {
        let playback = try #require(playback)
        self.init(
            finished: { try await playback.finished() },
            keys: PlayingKeys(usable: { [weak playback] in playback?.usableKeys(for: $0) ?? [] }))
    }
}

// MARK: - AVFoundation

/// Several players, with one `AVPlayerKeys` or one in each window.
// Sound: used by one task at a time.
private final class SessionApp: SequenceApp, @unchecked Sendable {
    private struct Screen {
        let title: Title
        let asset: AVURLAsset
        let player: AVPlayer
    }

    private let setup: SequenceSetup
    private let keys: [AVPlayerKeys]
    private var screens: [Int: Screen] = [:]

    init(_ setup: SequenceSetup, windows: Int) {
        self.setup = setup
        keys = (0..<windows).map { _ in AVPlayerKeys(setup.loader, onFailure: setup.failures.add) }
    }

    private func keys(of player: Int) -> AVPlayerKeys { keys[player % keys.count] }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        let asset = AVURLAsset(url: setup.url(title))
        if !overlaps { await stop(player) }
        keys(of: player).protect(asset, as: title.name)
        if overlaps { await stop(player) }
        let item = AVPlayerItem(asset: asset)
        await show(asset, title, at: player, AVPlayer(playerItem: item))
        return Playing(item.standIn)
    }

    private func show(_ asset: AVURLAsset, _ title: Title, at player: Int, _ view: AVPlayer) async {
        screens[player] = Screen(title: title, asset: asset, player: view)
        await view.play()
    }

    func stop(_ player: Int) async {
        guard let screen = screens.removeValue(forKey: player) else { return }
        await screen.player.replaceCurrentItem(with: nil)
        keys(of: player).release(screen.asset)
    }

    func drop(_ player: Int) async { screens[player] = nil }

    private func sharing(_ player: Int) -> Set<Int> { Set((0...2).filter { keys(of: $0) === keys(of: player) }) }

    func suspend(_ player: Int) async -> Set<Int> {
        keys(of: player).suspend()
        return sharing(player)
    }

    func resume(_ player: Int) async -> Set<Int> {
        keys(of: player).resume()
        return sharing(player)
    }

    func perform(_ move: Move) async throws -> [Int: Playing] {
        switch move {
        case .again(let player):
            let screen = try #require(screens[player])
            let item = AVPlayerItem(asset: screen.asset)
            await screen.player.replaceCurrentItem(with: item)
            await screen.player.play()
            return [player: Playing(item.standIn)]
        case .preload(let title): _ = await setup.loader.preload(setup.url(title), into: keys[0], as: title.name)
        case .preloadKeys(let title):
            for key in try await setup.stage.keys(of: title.stream, for: setup.profile) { keys[0].preload(key) }
        case .queue(let titles, let player): return [player: try await queue(titles, at: player)]
        case .loop(let title, let player): return [player: try await loop(title, at: player)]
        case .interstitial(let inner, let title, let player):
            return [player: try await play(title, at: player, interruptedBy: inner)]
        case .reset: return try await startOver()
        case .replaceSession: for keys in keys { keys.replaceSession() }
        case .renewEndedKeys: for keys in keys { keys.renewEndedKeys() }
        case .store(let title):
            let stored = try await setup.stage.keys(of: title.stream, for: setup.profile)
            try await StoredKeys(setup.loader).storeKeys(stored, of: title.name ?? "unnamed")
        default: break
        }
        return [:]
    }

    /// What the documentation has an app do after a reset of the media services.
    private func startOver() async throws -> [Int: Playing] {
        for keys in keys { keys.replaceSession() }
        var playing: [Int: Playing] = [:]
        for (player, screen) in screens.sorted(by: { $0.key < $1.key }) {
            playing[player] = try await play(screen.title, at: player, overlaps: false)
        }
        return playing
    }

    /// Plays titles one after the other, releases each that is over, and stays with the last one.
    private func queue(_ titles: [Title], at player: Int) async throws -> Playing {
        await stop(player)
        let assets = titles.map { AVURLAsset(url: setup.url($0)) }
        for (asset, title) in zip(assets, titles) { keys(of: player).protect(asset, as: title.name) }
        let items = assets.map { AVPlayerItem(asset: $0) }
        let (last, asset) = (try #require(items.last), try #require(assets.last))
        await show(asset, try #require(titles.last), at: player, AVQueuePlayer(items: items))
        for (item, asset) in zip(items, assets).dropLast() {
            let result = try await item.standIn.finished()
            #expect(result.isRight)
            keys(of: player).release(asset)
        }
        return Playing(last.standIn)
    }

    private func loop(_ title: Title, at player: Int) async throws -> Playing {
        await stop(player)
        let asset = AVURLAsset(url: setup.url(title))
        keys(of: player).protect(asset, as: title.name)
        let view = AVQueuePlayer()
        let looper = AVPlayerLooper(player: view, templateItem: AVPlayerItem(asset: asset))
        let replicas = looper.loopingPlayerItems
        let last = try #require(replicas.last)
        await show(asset, title, at: player, view)
        for replica in replicas {
            let result = try await replica.standIn.finished()
            #expect(result.isRight)
        }
        looper.disableLooping()
        return Playing(last.standIn)
    }

    private func play(_ title: Title, at player: Int, interruptedBy inner: Title) async throws -> Playing {
        await stop(player)
        let keys = keys(of: player)
        let asset = AVURLAsset(url: setup.url(title))
        keys.protect(asset, as: title.name)
        let item = AVPlayerItem(asset: asset)
        let view = AVPlayer(playerItem: item)
        let other = AVURLAsset(
            url: setup.url(inner), options: [AVURLAssetPrimarySessionIdentifierKey: asset.httpSessionIdentifier])
        keys.protect(other, as: inner.name)
        let event = AVPlayerInterstitialEvent(primaryItem: item, time: .zero)
        event.templateItems = [AVPlayerItem(asset: other)]
        AVPlayerInterstitialEventController(primaryPlayer: view).events = [event]
        let results = event.standIn
        await show(asset, title, at: player, view)
        #expect(try await results.value.allSatisfy(\.isRight))
        keys.release(other)
        return Playing(item.standIn)
    }
}

/// Several `ProtectedPlayback`s on one loader.
@MainActor private final class PlaybackApp: SequenceApp {
    private let setup: SequenceSetup
    private var playbacks: [Int: ProtectedPlayback] = [:]

    init(_ setup: SequenceSetup) { self.setup = setup }

    private func playback(_ player: Int) -> ProtectedPlayback {
        if let known = playbacks[player] { return known }
        let made = ProtectedPlayback(setup.loader)
        let (outcomes, failures) = (made.keys.outcomes, setup.failures)
        Task { for await outcome in outcomes { if case .failure(let failure) = outcome { failures.add(failure) } } }
        playbacks[player] = made
        return made
    }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        playback(player).play(setup.url(title), as: title.name)
        return try playing(player)
    }

    private func playing(_ player: Int) throws -> Playing {
        Playing(try #require(playback(player).player.currentItem).standIn)
    }

    func stop(_ player: Int) async { playback(player).stop() }

    func drop(_ player: Int) async { playbacks[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        playback(player).keys.suspend()
        return [player]
    }

    func resume(_ player: Int) async -> Set<Int> {
        playback(player).keys.resume()
        return [player]
    }

    func perform(_ move: Move) async throws -> [Int: Playing] {
        switch move {
        case .preload(let title):
            _ = await setup.loader.preload(setup.url(title), into: playback(0).keys, as: title.name)
        case .preloadKeys(let title):
            for key in try await setup.stage.keys(of: title.stream, for: setup.profile) {
                playback(0).keys.preload(key)
            }
        case .reset: return try await restarted()
        case .renewEndedKeys: for playback in playbacks.values { playback.keys.renewEndedKeys() }
        case .store(let title):
            let stored = try await setup.stage.keys(of: title.stream, for: setup.profile)
            try await StoredKeys(setup.loader).storeKeys(stored, of: title.name ?? "unnamed")
        default: break
        }
        return [:]
    }

    /// Each has another player, which the viewer resumes.
    private func restarted() async throws -> [Int: Playing] {
        var playing: [Int: Playing] = [:]
        for (player, playback) in playbacks where playback.player.currentItem != nil {
            while playback.player.status == .failed || playback.player.currentItem?.status != .readyToPlay {
                try Task.checkCancellation()
                await Task.yield()
            }
            playback.player.play()
            playing[player] = try self.playing(player)
        }
        return playing
    }
}

/// Several players, with one `ResourceLoaderKeys`.
// Sound: used by one task at a time.
private final class LoaderApp: SequenceApp, @unchecked Sendable {
    private let setup: SequenceSetup
    private let keys: ResourceLoaderKeys
    private var screens: [Int: (asset: AVURLAsset, player: AVPlayer)] = [:]

    init(_ setup: SequenceSetup) {
        self.setup = setup
        keys = ResourceLoaderKeys(setup.loader, onFailure: setup.failures.add)
    }

    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing {
        let asset = AVURLAsset(url: setup.url(title))
        if !overlaps { await stop(player) }
        keys.protect(asset, as: title.name)
        if overlaps { await stop(player) }
        let item = AVPlayerItem(asset: asset)
        screens[player] = (asset, AVPlayer(playerItem: item))
        await screens[player]?.player.play()
        return Playing(item.standIn)
    }

    func stop(_ player: Int) async {
        guard let screen = screens.removeValue(forKey: player) else { return }
        await screen.player.replaceCurrentItem(with: nil)
        keys.release(screen.asset)
    }

    func drop(_ player: Int) async { screens[player] = nil }

    func suspend(_ player: Int) async -> Set<Int> {
        keys.suspend()
        return [0, 1, 2]
    }

    func resume(_ player: Int) async -> Set<Int> {
        keys.resume()
        return [0, 1, 2]
    }

    func perform(_ move: Move) async throws -> [Int: Playing] {
        guard case .again(let player) = move else { return [:] }
        let screen = try #require(screens[player])
        let item = AVPlayerItem(asset: screen.asset)
        await screen.player.replaceCurrentItem(with: item)
        await screen.player.play()
        return [player: Playing(item.standIn)]
    }
}

// MARK: - Players on AVFoundation

// Sound: used by one task at a time.
private final class ReactNativeApp: SequenceApp, @unchecked Sendable {
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
private final class ConnectApp: SequenceApp, @unchecked Sendable {
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
private final class TVSDKSequenceApp: SequenceApp, @unchecked Sendable {
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

// MARK: - Players with playbacks of their own

// Sound: used by one task at a time.
private final class JW4App: SequenceApp, @unchecked Sendable {
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
private final class JW3App: SequenceApp, @unchecked Sendable {
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
private final class THEOSequenceApp: SequenceApp, @unchecked Sendable {
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

/// An app that has each license renewed after three quarters of its lease and tells when that fails, for the player does not.
// Sound: used by one task at a time.
private final class BitmovinApp: SequenceApp, @unchecked Sendable {
    private final class Renewals: NSObject, SourceListener, Sendable {
        /// How often a key's license came, and was asked for again.
        struct Count {
            var licenses = 0
            var renewals = 0
        }

        /// The keys of the sources that play. A source that plays no more holds no keys.
        let sources = Locked<[ObjectIdentifier: [String: Count]]>([:])
        private let time: ManualTimekeeper
        private let failures: FailureLog

        init(_ setup: SequenceSetup) { (time, failures) = (setup.stage.time, setup.failures) }

        /// Whether a license was asked for that has not come.
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

        /// The player sends the requests, and so it reports what becomes of them; 2309 is a source that was unloaded.
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
            credentials: Credentials { _ in CredentialSet(["token": service.issue(nil)]) },
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
