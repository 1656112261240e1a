/// A licensee's parser for SPC containers whose layout is not public: versions 2 and 3.
///
/// The module calls it for every SPC with one of its versions, except SPCs for test credentials. The result is handled like
/// any other SPC. Runs on the caller's thread; must be safe for concurrent calls.
///
/// Source: `Documentation/FairPlay.md` §2.
public protocol SPCOpener: Sendable {
    /// The container versions that this parser opens.
    var versions: Set<UInt32> { get }

    /// Opens a container.
    /// - Parameters:
    ///   - spc: the whole SPC. The caller limits its length.
    ///   - credentials: the module's credentials. `KeyServerCredential.unwrap(_:)` does the RSA decryption.
    /// - Throws: a `KSMRefusal`. Any other error becomes `malformedContainer`.
    func open(_ spc: [UInt8], credentials: [KeyServerCredential]) throws -> OpenedSPC
}

/// The result of an `SPCOpener`.
public struct OpenedSPC: Sendable {
    /// The decrypted payload, a sequence of blocks.
    public let payload: [UInt8]
    /// The index of the credential that opened it.
    public let credentialIndex: Int

    /// - Parameters:
    ///   - payload: the decrypted payload, a sequence of blocks.
    ///   - credentialIndex: the index of the credential that opened it, in the module's credentials.
    public init(payload: [UInt8], credentialIndex: Int) {
        self.payload = payload
        self.credentialIndex = credentialIndex
    }
}
