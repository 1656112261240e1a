internal import COpenSSL
package import LatchkeyCore

/// AES-256 in Galois/Counter Mode, with a nonce of 12 bytes and a tag of 16.
///
/// Source: NIST SP 800-38D.
package enum AESGCM {
    /// The length of a key in bytes.
    package static let keyCount = 32
    /// The length of a nonce in bytes.
    package static let nonceCount = 12
    /// The length of a tag in bytes.
    package static let tagCount = 16

    /// Encrypts a secret.
    /// - Parameters:
    ///   - plain: the secret.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never used twice with one key.
    ///   - context: additional authenticated data. Opening requires the same bytes.
    /// - Returns: the ciphertext, as long as the secret, and the tag.
    /// - Throws: an error if libcrypto fails or a length is wrong.
    package static func seal(
        _ plain: Secret, key: Secret, nonce: [UInt8], context: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        try key.withUnsafeBytes { key throws(OpenSSLError) in
            let cipher = try CipherContext(algorithm, .encrypt, key: key, iv: nonce)
            var sealed = [UInt8](repeating: 0, count: plain.count + tagCount)
            var tag = [UInt8](repeating: 0, count: tagCount)
            guard cipher.authenticate(context) else { throw OpenSSLError(in: "EVP_CipherUpdate") }
            let count = plain.withUnsafeBytes { plain in
                sealed.withUnsafeMutableBytes { cipher.finish(plain, to: $0) }
            }
            guard count == plain.count, latchkey_gcm_get_tag(cipher.pointer, &tag) == 1 else {
                throw OpenSSLError(in: "EVP_CipherFinal_ex")
            }
            sealed.replaceSubrange(plain.count..., with: tag)
            return sealed
        }
    }

    /// Decrypts the output of `seal`.
    /// - Returns: the secret; `nil` if the key, nonce, context, ciphertext or tag differs.
    /// - Throws: an error if libcrypto fails or the length of the key or nonce is wrong.
    package static func open(
        _ sealed: [UInt8], key: Secret, nonce: [UInt8], context: [UInt8]
    ) throws(OpenSSLError) -> Secret? {
        guard sealed.count >= tagCount else { return nil }
        return try key.withUnsafeBytes { key throws(OpenSSLError) in
            let cipher = try CipherContext(algorithm, .decrypt, key: key, iv: nonce)
            let plain = ErasedBytes(count: sealed.count)
            guard latchkey_gcm_set_tag(cipher.pointer, Array(sealed.suffix(tagCount))) == 1,
                cipher.authenticate(context)
            else { throw OpenSSLError(in: "EVP_CipherUpdate") }
            let count = sealed.dropLast(tagCount).withUnsafeBytes { sealed in
                plain.write(0..<plain.count) { cipher.finish(sealed, to: $0) }
            }
            guard let count else {
                OpenSSLError.discardQueue()
                return nil
            }
            return plain.read(0..<count) { Secret($0) }
        }
    }

    // Fetched once, because each implicit fetch takes a lock. Sound because a fetched algorithm is immutable.
    nonisolated(unsafe) private static let algorithm = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
}
