internal import COpenSSL
package import LatchkeyCore

/// SHA-1, SHA-2 and HMAC, through EVP.
package enum MessageDigest {
    /// The SHA-1 of bytes, 20 bytes.
    package static func sha1(_ bytes: UnsafeRawBufferPointer) throws(OpenSSLError) -> [UInt8] {
        try digest(bytes, algorithm: sha1Algorithm, count: 20)
    }

    /// The SHA-1 of bytes, 20 bytes.
    package static func sha1(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try digest(bytes, algorithm: sha1Algorithm, count: 20)
    }

    /// The SHA-256 of bytes, 32 bytes.
    package static func sha256(_ bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try digest(bytes, algorithm: SHA2.sha256.algorithm, count: 32)
    }

    /// The HMAC-SHA-256 of bytes, 32 bytes.
    /// - Parameter key: at most 64 bytes.
    ///
    /// Source: RFC 2104 §2.
    package static func hmacSHA256(key: UnsafeRawBufferPointer, _ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try hmac(key: key, message, algorithm: SHA2.sha256.algorithm, block: 64, count: 32)
    }

    /// The HMAC-SHA-512 of bytes, 64 bytes.
    /// - Parameter key: at most 128 bytes.
    ///
    /// Source: RFC 2104 §2.
    package static func hmacSHA512(key: UnsafeRawBufferPointer, _ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try hmac(key: key, message, algorithm: SHA2.sha512.algorithm, block: 128, count: 64)
    }

    /// The HMAC of bytes, as long as the hash.
    /// - Parameter key: any length. A key longer than the hash's block is replaced by its digest.
    ///
    /// Source: RFC 2104 §2.
    package static func hmac(_ hash: SHA2, key: Secret, _ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let block = hash == .sha256 ? 64 : 128
        return try key.withUnsafeBytes { bytes throws(OpenSSLError) in
            guard bytes.count > block else {
                return try hmac(key: bytes, message, algorithm: hash.algorithm, block: block, count: hash.count)
            }
            let short = Secret(try digest(bytes, algorithm: hash.algorithm, count: hash.count))
            return try hmac(hash, key: short, message)
        }
    }

    private static func hmac(
        key: UnsafeRawBufferPointer, _ message: [UInt8], algorithm: OpaquePointer?, block: Int, count: Int
    ) throws(OpenSSLError) -> [UInt8] {
        guard key.count <= block else { throw OpenSSLError(in: "HMAC with \(key.count) bytes of key") }
        var inner = [UInt8](repeating: 0x36, count: block + message.count)
        var outer = [UInt8](repeating: 0x5c, count: block + count)
        for (index, byte) in key.enumerated() {
            inner[index] ^= byte
            outer[index] ^= byte
        }
        inner.replaceSubrange(block..., with: message)
        outer.replaceSubrange(block..., with: try digest(inner, algorithm: algorithm, count: count))
        defer {
            erase(&inner)
            erase(&outer)
        }
        return try digest(outer, algorithm: algorithm, count: count)
    }

    private static func digest(
        _ bytes: [UInt8], algorithm: OpaquePointer?, count: Int
    ) throws(OpenSSLError) -> [UInt8] {
        try bytes.withUnsafeBufferPointer { bytes throws(OpenSSLError) in
            try digest(UnsafeRawBufferPointer(bytes), algorithm: algorithm, count: count)
        }
    }

    private static func digest(
        _ bytes: UnsafeRawBufferPointer, algorithm: OpaquePointer?, count: Int
    ) throws(OpenSSLError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        guard algorithm != nil, EVP_Digest(bytes.baseAddress, bytes.count, &result, nil, algorithm, nil) == 1 else {
            throw OpenSSLError(in: "EVP_Digest")
        }
        return result
    }

    // Fetched once, because each implicit fetch takes a lock. Sound because a fetched algorithm is immutable.
    nonisolated(unsafe) private static let sha1Algorithm = EVP_MD_fetch(nil, "SHA1", nil)
}
