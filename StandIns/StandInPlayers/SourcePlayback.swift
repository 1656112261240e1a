public import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyPlayback
public import StandInEngine

/// A stream in a player: loads it, requests and renews its keys, and plays it, until the player plays another one.
public final class SourcePlayback: Sendable {
    struct State {
        var uris: [KeyURI] = []
        var keys: [KeyURI: StandInKey] = [:]
        var renewals: [KeyURI: Task<Void, Never>] = [:]
        var failedRenewals: [any Error] = []
        var loading: Task<StandInPlayback.Loaded?, Never>?
        var isPlaying = false
        var isOver = false
        var picture: URL?
    }

    /// The stage.
    public let stage: StandInStage
    /// The calls to the app.
    public let hooks: any KeyHooks
    private let address: String
    private let ready = StandInOutcome<Void>()
    private let finish = StandInOutcome<StandInPlayback.Result>()
    let state = Locked(State())

    /// - Parameters:
    ///   - address: the address of a playlist.
    ///   - stage: the stage, which loads the media and has the clock.
    ///   - hooks: the calls to the app.
    public init(of address: String, on stage: StandInStage, hooks: any KeyHooks) {
        self.address = address
        self.stage = stage
        self.hooks = hooks
        stage.keepIfReleasingLate(self)
    }

    deinit {
        for renewal in state.withLock({ Array($0.renewals.values) }) { renewal.cancel() }
    }

    /// Waits until the stream has played.
    /// - Throws: the player's error.
    public func finished() async throws -> StandInPlayback.Result { try await finish.value }

    /// Waits until all keys have arrived.
    /// - Throws: the player's error.
    public func loaded() async throws { try await ready.value }

    /// Whether playback has ended, with or without success.
    public var isFinished: Bool { finish.isSettled }

    /// Whether the stream has begun to load.
    public var hasBegun: Bool { state.withLock { $0.loading != nil } }

    /// The URIs of the keys that decrypt now.
    public var usableKeys: Set<String> { usableKeys(for: .zero) }

    /// The URIs of the keys that decrypt now, and whose leases last that much longer.
    public func usableKeys(for duration: Duration) -> Set<String> {
        state.withLock { state in Set(state.keys.filter { $0.value.isUsable(for: duration) }.map(\.key.raw)) }
    }

    /// The errors of failed renewals. The current key stays in use until its lease ends.
    public var failedRenewals: [any Error] { state.withLock { $0.failedRenewals } }

    /// Writes one picture in PNG format when the stream plays.
    public func writePicture(to file: URL) { state.withLock { $0.picture = file } }

    /// Loads the stream and requests its keys. Only the first call has an effect.
    public func load() {
        state.withLock { state in
            guard state.loading == nil, !state.isOver else { return }
            state.loading = Task { await fetch() }
        }
    }

    /// Plays the stream after it is loaded. Only the first call has an effect.
    public func play() {
        load()
        let loading = state.withLock { state in
            defer { state.isPlaying = true }
            return state.isPlaying ? nil : state.loading
        }
        guard let loading else { return }
        Task {
            guard let loaded = await loading.value else { return }
            do {
                try await interfere(loaded.keyURIs)
                finish.settle(.success(try await decode(loaded)))
            } catch {
                fail(error)
            }
        }
    }

    /// Plays the stream again with the same keys.
    /// - Throws: the player's error.
    public func playAgain() async throws -> StandInPlayback.Result {
        // Players write files into the folder of the media, so the media is loaded again.
        try await decode(StandInPlayback(on: stage).load(address) { _ in })
    }

    /// Ends playback, because the player plays another stream or is released. Later answers are ignored.
    public func end() {
        let renewals = state.withLock { state in
            state.isOver = true
            defer { state.renewals = [:] }
            return Array(state.renewals.values)
        }
        for renewal in renewals { renewal.cancel() }
        fail(KeyFailure.ended)
    }

    private func fetch() async -> StandInPlayback.Loaded? {
        do {
            let loaded = try await StandInPlayback(on: stage).load(address) { uris in
                state.withLock { $0.uris = uris }
                try await provide(uris, destination: .device)
            }
            ready.settle(.success(()))
            return loaded
        } catch {
            fail(error)
            return nil
        }
    }

    private func decode(_ loaded: StandInPlayback.Loaded) async throws -> StandInPlayback.Result {
        let picture = state.withLock { $0.picture }
        return try await StandInPlayback(on: stage).play(
            loaded, keys: try await startPlayback(loaded.keyURIs), picture: picture)
    }

    /// Misbehavior in the middle of playback.
    private func interfere(_ uris: [KeyURI]) async throws {
        if stage.takeMisbehavior(.resetsMediaServices) { throw KeyFailure.mediaServicesReset }
        if stage.misbehaves(.switchesToAirPlay) { try await provide(uris, destination: .airPlay) }
    }

    private func fail(_ error: any Error) {
        let error = (error as? KeyFailure).map(hooks.report) ?? error
        ready.settle(.failure(error))
        finish.settle(.failure(error))
    }
}
