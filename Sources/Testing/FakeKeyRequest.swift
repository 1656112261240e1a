public import Foundation
public import Latchkey
public import LatchkeyCore
public import LatchkeyVendors

/// A player's key request that counts its answers.
public final class FakeKeyRequest: PlayerKeyRequest {
    /// What an answer is.
    public typealias Answer = Result<Data, ContentKeyError>

    private struct State {
        var answers: [Answer] = []
        var certificates: [Data] = []
        var identifiers: [Data] = []
        var watchers: [CheckedContinuation<Answer, Never>] = []
        var ends: [ContentKeyError] = []
        var renewals = 0
    }

    public let keyURI: KeyURI
    public let purpose: KeyPurpose
    public let player: PlayerID
    private let renewing: @Sendable (FakeKeyRequest) -> Bool
    private let spc: @Sendable () async throws -> Data
    private let state = Locked(State())

    /// - Parameters:
    ///   - keyURI: the key's URI.
    ///   - purpose: what the key is wanted for.
    ///   - player: the player that asks.
    ///   - spc: makes the SPC.
    ///   - renewing: what the player does when it is asked to renew the key; it cannot unless given.
    public init(
        _ keyURI: KeyURI, purpose: KeyPurpose = .streaming, player: PlayerID = .only,
        spc: @escaping @Sendable () async throws -> Data = { SampleBytes.spc },
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

    public func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        state.withLock { state in
            state.certificates.append(certificate)
            state.identifiers.append(contentIdentifier)
        }
        return try await spc()
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
