import Foundation
import LatchkeyCore
import StandInEngine

/// The work of an item: it loads when a player takes it, and decodes when it plays.
// Sound: `announce` is set once, before the item is shared; the rest is behind a lock.
final class ItemPlayback: @unchecked Sendable {
    private struct State {
        var status = AVPlayerItem.Status.unknown
        var error: (any Error)?
        var events: [AVPlayerItemErrorLogEvent] = []
        var loading: Task<StandInPlayback.Loaded?, Never>?
        var isPlaying = false
        var picture: URL?
        weak var player: PlayerState?
        var time = CMTime.zero
        /// `indefinite` until the stream is loaded.
        var duration = CMTime.indefinite
    }

    let asset: AVURLAsset
    /// Whether the item is ready.
    let ready = StandInOutcome<Void>()
    /// The result of playback.
    let finished = StandInOutcome<StandInPlayback.Result>()
    var announce: @Sendable (NSNotification.Name, [String: any Sendable]) -> Void = { _, _ in }
    let observers = PropertyObservers()
    private let session = UUID().uuidString
    private let state = Locked(State())

    init(of asset: AVURLAsset) { self.asset = asset }

    var status: AVPlayerItem.Status { state.withLock { $0.status } }
    /// The position set by a test or a seek; otherwise, after playback, the end of the stream, at the demo streams' 25 pictures a second.
    var time: CMTime {
        get { state.withLock { $0.time } }
        set { state.withLock { $0.time = newValue } }
    }
    var duration: CMTime { state.withLock { $0.duration } }
    var error: (any Error)? { state.withLock { $0.error } }
    var errorLog: AVPlayerItemErrorLog? {
        let events = state.withLock { $0.events }
        return events.isEmpty ? nil : AVPlayerItemErrorLog(events)
    }
    var picture: URL? {
        get { state.withLock { $0.picture } }
        set { state.withLock { $0.picture = newValue } }
    }

    /// Becomes the item of a player, and begins.
    func begin(for player: PlayerState) {
        let isTaken = state.withLock { state in
            if state.player == nil { state.player = player }
            return state.player !== player
        }
        if isTaken { asset.stage.log.note(.itemOfTwoPlayers, asset.url.lastPathComponent) }
        begin()
    }

    func leave(_ player: PlayerState) { state.withLock { if $0.player === player { $0.player = nil } } }

    /// Loads the stream and requests its keys. Only the first call has an effect.
    private func begin() {
        asset.begin()
        state.withLock { state in
            guard state.loading == nil else { return }
            state.loading = Task { await load() }
        }
    }

    /// Decodes after everything is loaded. Only the first call has an effect.
    /// - Parameter player: the player, which is informed if playback moves to a receiver.
    func play(on player: PlayerState) {
        begin()
        let loading = state.withLock { state in
            defer { state.isPlaying = true }
            return state.isPlaying ? nil : state.loading
        }
        guard let loading else { return }
        Task {
            guard let loaded = await loading.value else { return }
            await player.schedule.play(during: self, on: player)
            do {
                try await interfere(with: loaded, on: player)
                let keys = try startPlayback(loaded.keyURIs)
                let result = try await StandInPlayback(on: asset.stage).play(loaded, keys: keys, picture: picture)
                announce(AVPlayerItem.didPlayToEndTimeNotification, [:])
                time = CMTime(value: Int64(result.frameCount), timescale: 25)
                finished.settle(.success(result))
                player.ended(self)
            } catch {
                fail(error)
            }
        }
    }

    private func load() async -> StandInPlayback.Loaded? {
        do {
            let loaded = try await StandInPlayback(on: asset.stage).load(asset.url.absoluteString) { uris in
                try await asset.provide(uris)
            }
            let isReady = state.withLock { state in
                guard state.status != .failed else { return false }
                state.status = .readyToPlay
                state.duration = loaded.seconds.map { CMTime(seconds: $0, preferredTimescale: 1_000) } ?? .indefinite
                return true
            }
            guard isReady else { return nil }
            observers.changed(.status)
            ready.settle(.success(()))
            return loaded
        } catch {
            fail(error)
            return nil
        }
    }

    private func startPlayback(_ uris: [KeyURI]) throws -> [KeyURI: ContentKey] {
        guard asset.isRecipient else { return try asset.resourceLoader.startPlayback(uris) }
        guard let session = asset.session else {
            throw AVError.because(.contentIsNotAuthorized, "The asset's key session is gone.")
        }
        return try session.startPlayback(uris)
    }

    /// Misbehavior in the middle of playback.
    private func interfere(with loaded: StandInPlayback.Loaded, on player: PlayerState) async throws {
        let stage = asset.stage
        if stage.takeMisbehavior(.resetsMediaServices) {
            stage.resetMediaServices()
            throw AVError.because(.mediaServicesWereReset, "The media services were reset.")
        }
        if stage.misbehaves(.switchesToAirPlay), !loaded.keyURIs.isEmpty {
            player.isExternalPlaybackActive = true
            if let session = asset.session {
                session.changeProtection(.pending)
                try await session.provideAnew(loaded.keyURIs, for: asset, destination: .airPlay)
                session.changeProtection(.sufficient)
            } else {
                try await asset.resourceLoader.provide(loaded.keyURIs, destination: .airPlay)
            }
        }
    }

    /// Ends the item. Only the first call has an effect.
    func fail(_ error: any Error) {
        let event = AVPlayerItemErrorLogEvent(
            error, uri: asset.url.absoluteString, session: session, date: asset.stage.timekeeper.date)
        let before = state.withLock { state in
            let before = state.status
            guard before != .failed else { return before }
            state.status = .failed
            state.error = error
            state.events.append(event)
            return before
        }
        guard before != .failed else { return }
        observers.changed(.status)
        announce(AVPlayerItem.newErrorLogEntryNotification, [:])
        if before == .readyToPlay {
            announce(
                AVPlayerItem.failedToPlayToEndTimeNotification,
                [AVPlayerItemFailedToPlayToEndTimeErrorKey: error as NSError])
        }
        ready.settle(.failure(error))
        finished.settle(.failure(error))
    }
}
