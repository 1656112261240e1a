import Foundation
package import LatchkeyFairPlay

/// Intel's crypto_mb, which does eight RSA operations together on processors with AVX-512 IFMA. An operator installs it.
///
/// Source: `Documentation/Server/Speed.md` §3.
package struct CryptoMBLibrary: Sendable {
    /// The file, or the name by which the system's loader has found it.
    package let path: String
    /// Does eight operations.
    package let function: RSABatch.Function
    /// Does eight public operations, which verify results.
    package let check: RSABatch.PublicFunction

    /// The library's name; the number is its interface's version.
    package static let name = "libcrypto_mb.so.13"
    /// The libraries of Intel's compiler that it needs, in the order of loading.
    private static let runtime = ["libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so"]

    /// Searches the folders of the system's loader.
    /// - Throws: `libraryUnloadable` if it or a library it needs is missing; `librarySymbolMissing`, `libraryOtherProcessor`.
    package init() throws(LicenseeError) {
        try self.init(SharedLibrary(name: Self.name))
    }

    /// - Parameter path: the library, or its folder. Libraries that it needs are loaded from the same folder, if they are there.
    /// - Throws: `libraryMissing`, `libraryUnsafe`, `libraryUnloadable`, `librarySymbolMissing`, `libraryOtherProcessor`.
    package init(path: String) throws(LicenseeError) {
        var isFolder: ObjCBool = false
        var file = URL(filePath: path)
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            file.append(path: Self.name)
        }
        let folder = file.deletingLastPathComponent()
        for name in Self.runtime {
            let file = folder.appending(path: name).path
            if FileManager.default.fileExists(atPath: file) { _ = try SharedLibrary(path: file) }
        }
        try self.init(SharedLibrary(path: file.path))
    }

    private init(_ library: SharedLibrary) throws(LicenseeError) {
        let isApplicable: @convention(c) (UInt64) -> Int32 = try Self.function("mbx_is_crypto_mb_applicable", library)
        function = try Self.function("mbx_rsa_private_crt_mb8", library)
        check = try Self.function("mbx_rsa_public_mb8", library)
        path = library.path
        // Without given features the library queries the processor.
        guard isApplicable(0) == 1 else {
            throw LicenseeError(
                .otherProcessor, library: path, "This processor has no AVX-512 IFMA.",
                remedy: "Remove cryptoMB from the configuration, or use a processor that has it.")
        }
    }

    private static func function<Function>(
        _ name: String, _ library: SharedLibrary
    ) throws(LicenseeError) -> Function {
        guard let function = library.function(name, as: Function.self) else {
            throw LicenseeError(
                .symbolMissing, library: library.path, "It does not export \(name).",
                remedy: "Use \(Self.name) of Intel's crypto_mb.")
        }
        return function
    }
}
