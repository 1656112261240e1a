package import Foundation
package import LatchkeyCore
import LatchkeySystem

/// The places of a configuration's secrets: files that only their owner can read, and environment variables.
///
/// Source: `Documentation/LicenseServer.md` §8.4.
package struct SecretPlaces: Sendable {
    private let folder: URL
    private let mounts: [String]
    private let environment: [String: String]

    /// - Parameters:
    ///   - folder: the base of relative paths.
    ///   - mounts: folders whose files may be readable by other users, because the container has none. Defaults to none.
    ///   - environment: the environment. Defaults to the process's.
    package init(
        folder: URL, mounts: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.folder = folder
        self.mounts = mounts
        self.environment = environment
    }

    /// The same, with paths relative to a file's folder.
    func beside(_ file: String) -> SecretPlaces {
        SecretPlaces(
            folder: URL(filePath: path(file)).deletingLastPathComponent(), mounts: mounts, environment: environment)
    }

    /// The absolute path of a file.
    package func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : folder.appending(path: name).path
    }

    /// Whether a file is in a folder of mounted secrets, and may therefore be readable by other users.
    package func isMounted(_ file: String) -> Bool { SecretFile(mounts: mounts.map(path)).isMounted(path(file)) }

    /// Reads a file that only its owner can read.
    /// - Throws: `secretFileUnreadable`, `secretFileOpenToOthers`.
    package func secret(_ file: String) throws(LicenseeError) -> Secret {
        try SecretFile(mounts: mounts.map(path)).read(path(file))
    }

    /// Reads the text of a file that only its owner can read, without surrounding white space.
    /// - Throws: as `secret(_:)`.
    package func text(_ file: String) throws(LicenseeError) -> Secret {
        try secret(file).withUnsafeBytes { bytes in
            let isBlank = { (byte: UInt8) in byte == 0x20 || 0x09...0x0d ~= byte }
            var text = bytes[...].drop(while: isBlank)
            while let last = text.last, isBlank(last) { text.removeLast() }
            return Secret(text)
        }
    }

    /// Takes a secret from an environment variable; `nil` if it is not set.
    package func variable(_ name: String) -> Secret? { environment[name].map { Secret($0) } }

    /// Reads a file that is not secret.
    /// - Throws: `secretFileUnreadable`.
    package func contents(_ file: String) throws(LicenseeError) -> Data {
        do throws(FileError) { return try PlainFile.read(path(file), limit: SecretFile.limit) } catch {
            throw .unreadable(path(file), error.what)
        }
    }

    /// A token's PIN, without the line end of its file.
    /// - Throws: `pkcs11PINMissing` unless exactly one of both names it.
    package func pin(file: String?, variable: String?) throws -> Secret {
        switch (file, variable) {
        case (let file?, nil):
            return try secret(file).withUnsafeBytes { bytes in
                Secret(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
            }
        case (nil, let name?):
            if let pin = self.variable(name), pin.count > 0 { return pin }
            throw LicenseeError(
                .pinMissing, "The environment variable \(name.onOneLine) with the PIN is not set.",
                remedy: "Set it, or write the PIN to a file and set pinFile to it.")
        default:
            throw LicenseeError(
                .pinMissing, "The PIN must be in either pinFile or pinVariable.",
                remedy: "Set pinFile to the PIN's file.")
        }
    }
}
