import Foundation
import LatchkeySystem
package import LatchkeyTransport

/// The tool's connection to servers.
package enum Network {
    /// The option of all verbs that load data.
    package static let authorities = Option(
        "ca", .path("FILE"), "authorities to trust for https, in PEM; SSL_CERT_FILE does the same")

    /// The transport for a run.
    /// - Parameter path: the file of `--ca`; `nil` trusts the authorities of the system and `SSL_CERT_FILE`.
    /// - Throws: `FileError` for a file that cannot be read or holds no certificate; `UsageError` if the system has no such setting.
    package static func transport(trusting path: String?, _ console: Console) throws -> any Transport {
        let file = path ?? ProcessInfo.processInfo.environment["SSL_CERT_FILE"] ?? ""
        if !file.isEmpty { try check(file, console) }
        #if os(Linux)
            return CurlTransport(authorities: path.map { URL(filePath: $0) })
        #else
            guard path == nil else { throw UsageError("--ca works on Linux only; add the authority to the keychain.") }
            return SystemTransport()
        #endif
    }

    private static func check(_ file: String, _ console: Console) throws {
        let text = String(decoding: try InputFile.read(file, limit: 16 << 20, console), as: UTF8.self)
        guard text.contains("-----BEGIN CERTIFICATE-----") else { throw FileError.noCertificate(file) }
    }
}

extension FileError {
    fileprivate static func noCertificate(_ path: String) -> Self {
        FileError(
            code: "noCertificate", reason: "\(path) holds no certificate in PEM.",
            remedy: "Give a file with lines BEGIN CERTIFICATE; for DER: openssl x509 -inform DER -in FILE.")
    }
}
