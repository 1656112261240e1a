import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyTesting
import StandInEngine
import Testing

/// Several players, with one `AVPlayerKeys` or one in each window.
// Sound: used by one task at a time.
final class SessionApp: SequenceApp, @unchecked Sendable {
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

    /// The documented steps of an app after a reset of the media services.
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
@MainActor final class PlaybackApp: SequenceApp {
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
final class LoaderApp: SequenceApp, @unchecked Sendable {
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
