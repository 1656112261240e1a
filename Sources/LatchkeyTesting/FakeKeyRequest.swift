public import Foundation
@_spi(Adapters) public import Latchkey
public import LatchkeyCore
public import LatchkeyVendors

/// A player's key request that records its answers. The system may already hold the key.
public final class FakeKeyRequest: Sendable {
    /// An answer to the request.
    public typealias Answer = Result<Data, ContentKeyError>

    private struct State {
        var answers: [Answer] = []
        var systemHolds = 0
        var certificates: [Data] = []
        var identifiers: [Data] = []
        var ends: [ContentKeyError] = []
        var renewals = 0
    }

    public let keyURI: KeyURI
    public let purpose: KeyPurpose
    public let asset: AssetID?
    @_spi(Adapters) public let player: PlayerID
    private let renewing: @Sendable (FakeKeyRequest) -> Bool
    private let spc: @Sendable () async throws -> Data?
    private let state = Locked(State())
    private let first = Promise<Answer, Never>()
    private let hold = Promise<Void, Never>()

    /// - Parameters:
    ///   - keyURI: the key's URI.
    ///   - purpose: the intended use of the key.
    ///   - asset: the title that the app named. Defaults to `nil`: none.
    ///   - spc: makes the SPC; `nil` means that the system holds the key.
    ///   - renewing: called when the player is asked to renew the key; returns whether it can. Defaults to `false`.
    public convenience init(
        _ keyURI: KeyURI, purpose: KeyPurpose = .streaming, asset: AssetID? = nil,
        spc: @escaping @Sendable () async throws -> Data? = { SampleBytes.spc },
        renewing: @escaping @Sendable (FakeKeyRequest) -> Bool = { _ in false }
    ) {
        self.init(keyURI, purpose: purpose, asset: asset, player: .only, spc: spc, renewing: renewing)
    }

    /// Makes a request of one of several players.
    @_spi(Adapters)
    public init(
        _ keyURI: KeyURI, purpose: KeyPurpose = .streaming, asset: AssetID? = nil, player: PlayerID,
        spc: @escaping @Sendable () async throws -> Data? = { SampleBytes.spc },
        renewing: @escaping @Sendable (FakeKeyRequest) -> Bool = { _ in false }
    ) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.asset = asset
        self.player = player
        self.renewing = renewing
        self.spc = spc
    }

    /// All answers so far.
    public var answers: [Answer] { state.withLock { $0.answers } }

    /// How often the request was ended because the system holds the key; at most once, and then there is no answer.
    public var systemHolds: Int { state.withLock { $0.systemHolds } }

    /// The errors with which the key's life ended.
    public var ends: [ContentKeyError] { state.withLock { $0.ends } }

    /// The number of times that the player was asked to renew the key.
    public var renewals: Int { state.withLock { $0.renewals } }

    /// The certificates for which SPCs were requested.
    public var certificates: [Data] { state.withLock { $0.certificates } }

    /// The content identifiers for which SPCs were requested.
    public var identifiers: [Data] { state.withLock { $0.identifiers } }

    /// The first answer, as soon as there is one; the failure `cancelled` if the waiting task is cancelled before, for instance by a test's
    /// time limit.
    public func firstAnswer() async -> Answer {
        (try? await first.value) ?? .failure(ContentKeyError(.cancelled, "The test stopped waiting for the answer."))
    }

    /// Waits until the request is ended because the system holds the key, or the waiting task is cancelled.
    public func untilSystemHolds() async { try? await hold.value }

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
        state.withLock { $0.systemHolds += 1 }
        hold.resolve(.success(()))
    }

    public func renew() -> Bool {
        state.withLock { $0.renewals += 1 }
        return renewing(self)
    }

    public func ended(_ error: ContentKeyError) { state.withLock { $0.ends.append(error) } }

    public func answer(_ result: Answer) {
        state.withLock { $0.answers.append(result) }
        first.resolve(.success(result))
    }
}

extension Result {
    /// The error of a failure.
    package var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
