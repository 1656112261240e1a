package import Foundation
package import LatchkeyCore
import LatchkeyFairPlay

/// Where a key encryption key comes from: a file, the environment, or hardware.
///
/// Its 32 bytes stand there as they are, in base64, or in hexadecimal digits.
///
/// Source: `Documentation/LicenseServer.md` §8.2.
extension KeyEncryptionKey {
    /// Reads a key from a file that only its owner can read.
    /// - Parameters:
    ///   - path: the file; a symbolic link counts as what it leads to.
    ///   - id: the key's name. Defaults to one that is made of the key by a hash.
    /// - Throws: `keyEncryptionKeyUnusable`, also for a file that its group or others may read or write.
    package init(file path: String, id: String? = nil) throws(KeyProtectionError) {
        try self.init(id: id, written: try Self.contents(of: path), place: "The file \(path.onOneLine)")
    }

    /// Takes a key from an environment variable.
    /// - Parameters:
    ///   - name: the variable's name.
    ///   - id: the key's name. Defaults to one that is made of the key by a hash.
    ///   - variables: the environment. Defaults to the process's.
    /// - Throws: `keyEncryptionKeyUnusable`.
    package init(
        variable name: String, id: String? = nil,
        of variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(KeyProtectionError) {
        let place = "The environment variable \(name.onOneLine)"
        guard let text = variables[name] else { throw .unusable("\(place) is not set.") }
        try self.init(id: id, written: Secret(text), place: place)
    }

    /// Has hardware open a key that a file keeps in its wrapping.
    /// - Parameters:
    ///   - path: the file. Its mode does not matter: what it holds is of use to the hardware only.
    ///   - id: the key's name. Defaults to one that is made of the key by a hash.
    ///   - unwrap: opens the file's bytes, for instance by `C_Decrypt` of a PKCS#11 module. Called once, on the caller's thread.
    /// - Throws: `keyEncryptionKeyUnusable`, also if `unwrap` fails.
    package init(
        wrappedIn path: String, id: String? = nil, unwrap: (Data) throws -> Secret
    ) throws(KeyProtectionError) {
        guard let wrapped = FileManager.default.contents(atPath: path), wrapped.count <= Self.byteLimit else {
            throw .unusable("The file \(path.onOneLine) is not readable, or too large.")
        }
        let key: Secret
        do { key = try unwrap(wrapped) } catch {
            throw .unusable("The hardware does not open the file \(path.onOneLine).")
        }
        try self.init(id: Self.name(id, of: key), key: key)
    }

    private static var byteLimit: Int { 4_096 }

    private init(id: String?, written: Secret, place: String) throws(KeyProtectionError) {
        guard let key = Self.key(written) else {
            throw .unusable("\(place) is neither 32 bytes, nor their base64, nor their hexadecimal digits.")
        }
        try self.init(id: Self.name(id, of: key), key: key)
    }

    private static func key(_ written: Secret) -> Secret? {
        if written.count == AESGCM.keyCount { return written }
        let text = written.revealedText.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let key = Data(hexString: text) ?? Data(base64Encoded: text), key.count == AESGCM.keyCount else {
            return nil
        }
        return Secret(key)
    }

    /// The given name, or one that tells keys apart and says nothing about their bytes: the key is random.
    private static func name(_ id: String?, of key: Secret) throws(KeyProtectionError) -> String {
        if let id { return id }
        do {
            let hash = try key.withUnsafeBytes { key throws(OpenSSLError) in
                try MessageDigest.hmacSHA256(key: key, Array("latchkey/kek/1".utf8))
            }
            return "kek-\(hash.prefix(8).hexString)"
        } catch { throw KeyProtectionError(error) }
    }

    /// Reads the file whose mode was looked at, and no other that takes its place meanwhile.
    private static func contents(of path: String) throws(KeyProtectionError) -> Secret {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unusable("The file \(path.onOneLine) is not readable.") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unusable("\(path.onOneLine) is not a file.")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .unusable(
                "The file \(path.onOneLine) may be read or written by its group or by others.", "Give it the mode 0600."
            )
        }
        let bytes = ErasedBytes(count: byteLimit)
        let count = bytes.write(0..<byteLimit) { read(file, $0.baseAddress, $0.count) }
        guard 1..<byteLimit ~= count else { throw .unusable("The file \(path.onOneLine) is empty or too large.") }
        return bytes.read(0..<count) { Secret($0) }
    }
}

extension KeyProtectionError {
    fileprivate static func unusable(
        _ reason: String, _ remedy: String = "Give it 32 random bytes, as from openssl rand -base64 32."
    ) -> Self {
        Self(.keyEncryptionKeyUnusable, reason: reason, remedy: remedy)
    }
}
