public import Foundation
@_spi(Adapters) public import Latchkey
public import LatchkeyCore
public import LatchkeyVendors

/// A player's key request that records its answers. The key may be one that the system holds.
public final class FakeKeyRequest: Sendable {
    /// What an answer is.
    public typealias Answer = Result<Data, ContentKeyError>

    private struct State {
        var answers: [Answer] = []
        var systemHolds = 0
        var certificates: [Data] = []
        var identifiers: [Data] = []
        var watchers: [CheckedContinuation<Answer, Never>] = []
        var holdWatchers: [CheckedContinuation<Void, Never>] = []
        var ends: [ContentKeyError] = []
        var renewals = 0
    }

    public let keyURI: KeyURI
    public let purpose: KeyPurpose
    @_spi(Adapters) public let player: PlayerID
    private let renewing: @Sendable (FakeKeyRequest) -> Bool
    private let spc: @Sendable () async throws -> Data?
    private let state = Locked(State())

    /// - Parameters:
    ///   - keyURI: the key's URI.
    ///   - purpose: what the key is wanted for.
    ///   - spc: makes the SPC; `nil` says that the system holds the key.
    ///   - renewing: what the player does when it is asked to renew the key. Defaults to `false`: it cannot.
    public convenience init(
        _ keyURI: KeyURI, purpose: KeyPurpose = .streaming,
        spc: @escaping @Sendable () async throws -> Data? = { SampleBytes.spc },
        renewing: @escaping @Sendable (FakeKeyRequest) -> Bool = { _ in false }
    ) {
        self.init(keyURI, purpose: purpose, player: .only, spc: spc, renewing: renewing)
    }

    /// Makes a request of one of several players.
    @_spi(Adapters)
    public init(
        _ keyURI: KeyURI, purpose: KeyPurpose = .streaming, player: PlayerID,
        spc: @escaping @Sendable () async throws -> Data? = { SampleBytes.spc },
        renewing: @escaping @Sendable (FakeKeyRequest) -> Bool = { _ in false }
    ) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.player = player
        self.renewing = renewing
        self.spc = spc
    }

    /// All answers so far.
    public var answers: [Answer] { state.withLock { $0.answers } }

    /// How often the request was ended because the system holds the key; once at most, and then there is no answer.
    public var systemHolds: Int { state.withLock { $0.systemHolds } }

    /// The errors with which the key's life ended.
    public var ends: [ContentKeyError] { state.withLock { $0.ends } }

    /// How often the player was asked to renew the key.
    public var renewals: Int { state.withLock { $0.renewals } }

    /// The certificates that SPCs were asked for with.
    public var certificates: [Data] { state.withLock { $0.certificates } }

    /// The content identifiers that SPCs were asked for with.
    public var identifiers: [Data] { state.withLock { $0.identifiers } }

    /// The first answer, as soon as there is one.
    public func firstAnswer() async -> Answer {
        await withCheckedContinuation { watcher in
            let answer = state.withLock { state in
                if state.answers.isEmpty { state.watchers.append(watcher) }
                return state.answers.first
            }
            if let answer { watcher.resume(returning: answer) }
        }
    }

    /// Waits until the request is ended because the system holds the key.
    public func untilSystemHolds() async {
        await withCheckedContinuation { watcher in
            let isOver = state.withLock { state in
                if state.systemHolds == 0 { state.holdWatchers.append(watcher) }
                return state.systemHolds > 0
            }
            if isOver { watcher.resume() }
        }
    }

    public func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        guard let spc = try await makeOptionalSPC(certificate: certificate, contentIdentifier: contentIdentifier) else {
            throw ContentKeyError.noSPC
        }
        return spc
    }

    public func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data? {
        state.withLock { state in
            state.certificates.append(certificate)
            state.identifiers.append(contentIdentifier)
        }
        return try await spc()
    }

    public func systemHoldsKey() {
        let watchers = state.withLock { state in
            state.systemHolds += 1
            defer { state.holdWatchers = [] }
            return state.holdWatchers
        }
        for watcher in watchers { watcher.resume() }
    }

    public func renew() -> Bool {
        state.withLock { $0.renewals += 1 }
        return renewing(self)
    }

    public func ended(_ error: ContentKeyError) { state.withLock { $0.ends.append(error) } }

    public func answer(_ result: Answer) {
        let watchers = state.withLock { state in
            state.answers.append(result)
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.resume(returning: result) }
    }
}

extension Result {
    /// The error of a failure.
    package var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
