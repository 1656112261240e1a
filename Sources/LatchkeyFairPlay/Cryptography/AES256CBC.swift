internal import COpenSSL
package import LatchkeyCore

/// AES-256 in CBC mode with PKCS#7 padding, for packagers' formats.
///
/// CBC does not detect changes to the ciphertext. Check a MAC or a signature before you decrypt.
package enum AES256CBC {
    /// Encrypts bytes.
    /// - Parameters:
    ///   - plain: any number of bytes.
    ///   - key: 32 bytes.
    ///   - iv: 16 bytes.
    /// - Returns: whole blocks, at least one, without the IV.
    /// - Throws: an error if libcrypto fails or a length is wrong.
    package static func encrypt(_ plain: Secret, key: Secret, iv: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try key.withUnsafeBytes { key throws(OpenSSLError) in
            let cipher = try CipherContext(algorithm, .encrypt, key: key, iv: iv)
            var sealed = [UInt8](repeating: 0, count: plain.count + 16)
            let count = plain.withUnsafeBytes { plain in
                sealed.withUnsafeMutableBytes { cipher.finish(plain, to: $0) }
            }
            guard let count else { throw OpenSSLError(in: "EVP_CipherFinal_ex") }
            return Array(sealed.prefix(count))
        }
    }

    /// Decrypts bytes.
    /// - Returns: the bytes without padding; `nil` if the length or the padding is wrong.
    /// - Throws: an error if libcrypto fails or the length of the key or IV is wrong.
    package static func decrypt(_ sealed: [UInt8], key: Secret, iv: [UInt8]) throws(OpenSSLError) -> Secret? {
        try key.withUnsafeBytes { key throws(OpenSSLError) in
            let cipher = try CipherContext(algorithm, .decrypt, key: key, iv: iv)
            let plain = ErasedBytes(count: sealed.count + 16)
            let count = sealed.withUnsafeBytes { sealed in
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
    nonisolated(unsafe) private static let algorithm = EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
}
