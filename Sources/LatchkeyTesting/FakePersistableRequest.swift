public import Foundation
@_spi(Adapters) public import Latchkey
public import LatchkeyCore

/// A player's request for a key to be stored: the stored form of a CKC is the CKC with a prefix.
public final class FakePersistableRequest: Sendable {
    public let keyURI: KeyURI
    public let storedKey: StoredKeyUse
    public let asset: AssetID?
    private let request: FakeKeyRequest
    private let persist: @Sendable (Data) throws -> Data

    /// - Parameters:
    ///   - keyURI: the key's URI.
    ///   - storedKey: how a key that is already stored is used.
    ///   - asset: the title that the app named. Defaults to `nil`: none.
    ///   - spc: makes the SPC; `nil` means that the system holds the key.
    ///   - persist: makes the stored form.
    public init(
        _ keyURI: KeyURI, storedKey: StoredKeyUse = .reuse, asset: AssetID? = nil,
        spc: @escaping @Sendable () async throws -> Data? = { SampleBytes.spc },
        persist: @escaping @Sendable (Data) throws -> Data = { storedForm(of: $0) }
    ) {
        self.keyURI = keyURI
        self.storedKey = storedKey
        self.asset = asset
        self.persist = persist
        request = FakeKeyRequest(keyURI, purpose: .persistable, spc: spc)
    }

    /// The fake player's stored form of a CKC.
    public static func storedForm(of ckc: Data) -> Data { Data("stored ".utf8) + ckc }

    /// All answers so far.
    public var answers: [FakeKeyRequest.Answer] { request.answers }

    /// The number of SPCs requested.
    public var spcCount: Int { request.certificates.count }

    /// How often the request was ended because the system holds the key.
    public var systemHolds: Int { request.systemHolds }

    /// Waits until the request is ended because the system holds the key.
    public func untilSystemHolds() async { await request.untilSystemHolds() }

    /// The first answer, as soon as there is one.
    public func firstAnswer() async -> FakeKeyRequest.Answer { await request.firstAnswer() }

    public func persistableKey(from ckc: Data) throws -> Data { try persist(ckc) }

    public func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try await request.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier)
    }

    public func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data? {
        try await request.makeOptionalSPC(certificate: certificate, contentIdentifier: contentIdentifier)
    }

    public func systemHoldsKey() { request.systemHoldsKey() }

    public func answer(_ result: FakeKeyRequest.Answer) { request.answer(result) }
}
