internal import CLatchkeyDerivation
import Foundation
package import LatchkeyCore
package import LatchkeyFairPlay

/// A derivation that tests itself before a server starts with it.
package protocol SelfTestingDerivation: ApplicationSecretDerivation {
    /// Whether there is a test.
    var hasSelfTest: Bool { get }
    /// Runs the test; does nothing if there is none.
    /// - Throws: why the derivation must not be used.
    func selfTest() throws
}

/// A licensee's derivation in a shared library with the interface of `latchkey_derivation.h`, and its opener of SPCs if it has one.
///
/// Loaded once and never unloaded. Its functions run on the caller's thread, and block it.
///
/// Source: `Documentation/Licensees.md` §1.
package struct DerivationLibrary: SelfTestingDerivation {
    /// The file, as an absolute path.
    package let path: String
    /// The library's opener of SPCs; `nil` if it has none.
    package let opener: (any SPCOpener)?

    private let derive: Derive
    private let test: SelfTest?

    private typealias Version = @Sendable @convention(c) () -> UInt32
    private typealias SelfTest = @Sendable @convention(c) () -> Int32
    private typealias Derive =
        @Sendable @convention(c) (
            UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, UnsafeMutablePointer<UInt8>?
        ) -> Int32

    /// Loads a library. Does not run its self-test yet.
    /// - Parameter path: a file; it is never searched for in other folders.
    /// - Throws: `libraryMissing`, `libraryUnsafe`, `libraryUnloadable`, `librarySymbolMissing`, `libraryOtherVersion`.
    package init(path: String) throws(LicenseeError) {
        let library = try SharedLibrary(path: path)
        let version = try library.required("latchkey_derivation_version", as: Version.self)()
        guard version == LATCHKEY_DERIVATION_VERSION else {
            throw LicenseeError(
                .otherVersion, library: library.path,
                "It implements version \(version) of the interface; this server needs version \(LATCHKEY_DERIVATION_VERSION).",
                remedy: "Build the library with this server's latchkey_derivation.h.")
        }
        derive = try library.required("latchkey_derivation_derive", as: Derive.self)
        test = library.function("latchkey_derivation_self_test", as: SelfTest.self)
        opener = try LibrarySPCOpener(library)
        self.path = library.path
    }

    package var hasSelfTest: Bool { test != nil }

    package func selfTest() throws(LicenseeError) {
        guard let result = test?(), result != LATCHKEY_OK else { return }
        throw LicenseeError(
            .selfTestFailed, library: path, "Its self-test returned \(result).",
            remedy: "Contact the library's author; the server does not start with a wrong derivation.")
    }

    package func derivedKey(r2: Secret, for credential: KeyServerCredential) throws(Diagnosis) -> Secret {
        // The interface promises these lengths to C, which cannot check them.
        guard r2.count == Int(LATCHKEY_R2_SIZE) else { throw .derivationFailed("R2 has \(r2.count) bytes") }
        let key = ErasedBytes(count: Int(LATCHKEY_DASK_SIZE))
        let sha1 = Array(credential.certificate.fingerprint)
        let result = r2.withUnsafeBytes { r2 in
            credential.applicationSecret.withOptionalBytes { ask in
                key.write(0..<key.count) { key in derive(r2.bytes, ask, sha1, key.bytes) }
            }
        }
        guard result != LATCHKEY_NO_SECRET else { throw .noApplicationSecret }
        guard result == LATCHKEY_OK else { throw .derivationFailed("it returned \(result)") }
        return key.read(0..<key.count) { Secret($0) }
    }
}

extension SharedLibrary {
    /// A required function.
    fileprivate func required<Function>(_ name: String, as type: Function.Type) throws(LicenseeError) -> Function {
        if let function = function(name, as: type) { return function }
        throw LicenseeError(
            .symbolMissing, library: path, "It does not export \(name).",
            remedy: "Export the functions of latchkey_derivation.h, with C linkage and default visibility.")
    }
}

extension Diagnosis {
    fileprivate static func derivationFailed(_ what: String) -> Diagnosis {
        Diagnosis(
            code: "derivationFailed", reason: "The library's derivation failed: \(what).",
            remedy: "Look the number up in latchkey_derivation.h, or contact the library's author.")
    }
}

extension Secret? {
    /// Calls a closure with the bytes; with `nil` if there is no secret.
    fileprivate func withOptionalBytes<Result>(_ body: (UnsafePointer<UInt8>?) -> Result) -> Result {
        guard let self else { return body(nil) }
        return self.withUnsafeBytes { body($0.bytes) }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var bytes: UnsafePointer<UInt8>? { assumingMemoryBound(to: UInt8.self).baseAddress }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate var bytes: UnsafeMutablePointer<UInt8>? { assumingMemoryBound(to: UInt8.self).baseAddress }
}
