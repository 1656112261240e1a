import LatchkeyCore
package import LatchkeyFairPlay

extension KeyEncryptionKey {
    /// Opens a key encryption key that is kept encrypted to a key in a token: RSA-OAEP with SHA-1 of the 32 bytes.
    ///
    /// For the start of a server; blocks. `openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep` makes the file.
    ///
    /// Source: `Documentation/Licensees.md` §4.
    /// - Parameters:
    ///   - id: the key's name.
    ///   - wrapped: the file's bytes; no secret.
    ///   - key: the private key that opens it.
    /// - Throws: `keyEncryptionKeyUnusable` if it does not open or has another length; what the key throws.
    package init(id: String, wrapped: some Collection<UInt8>, by key: any ApplicationKey) throws {
        guard let opened = try key.decryptOAEP([UInt8](wrapped)[...]) else {
            throw KeyProtectionError(
                .keyEncryptionKeyUnusable,
                reason:
                    "The key encryption key “\(id.onOneLine.prefix(60))” does not open with the private key that wraps it.",
                remedy: "Wrap its 32 bytes again, by RSA-OAEP with SHA-1, with the public half of that key.")
        }
        try self.init(id: id, key: opened)
    }
}
