/// A licensee's reader for SPC containers whose layout is not public: versions 2 and 3.
///
/// The module asks it for every SPC whose version it lists and that no test credential claims; what comes back goes on
/// like any other SPC. Called on the caller's thread, from any number of threads at once.
///
/// Source: `fps-protocol.md` §2.
public protocol SPCOpener: Sendable {
    /// The container versions that it reads.
    var versions: Set<UInt32> { get }

    /// Opens a container.
    /// - Parameters:
    ///   - spc: the whole SPC, as long as the caller let it be.
    ///   - credentials: those of the module; `KeyServerCredential.unwrap(_:)` does the RSA.
    /// - Throws: a `KSMRefusal`; any other error becomes `malformedContainer`.
    func open(_ spc: [UInt8], credentials: [KeyServerCredential]) throws -> OpenedSPC
}

/// What an `SPCOpener` found.
public struct OpenedSPC: Sendable {
    /// The decrypted payload: a sequence of blocks.
    public let payload: [UInt8]
    /// Which of the module's credentials opened it.
    public let credentialIndex: Int

    /// - Parameters:
    ///   - payload: the decrypted payload: a sequence of blocks.
    ///   - credentialIndex: which of the module's credentials opened it.
    public init(payload: [UInt8], credentialIndex: Int) {
        self.payload = payload
        self.credentialIndex = credentialIndex
    }
}
