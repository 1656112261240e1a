internal import COpenSSL
package import LatchkeyCore

/// HKDF with SHA-256: derives keys from a long-lived seed.
///
/// Source: RFC 5869.
package enum HKDF {
    /// Extracts and expands.
    /// - Parameters:
    ///   - seed: the input keying material, 1 byte or more.
    ///   - salt: any bytes; may be empty.
    ///   - info: the purpose of the result. Different infos give independent results.
    ///   - count: the length of the result in bytes, 1 to 8,160.
    /// - Throws: an error if libcrypto fails or the count is out of range.
    package static func sha256(
        _ seed: Secret, salt: [UInt8], info: [UInt8], count: Int
    ) throws(OpenSSLError) -> Secret {
        guard let algorithm, 1...8_160 ~= count, seed.count > 0 else {
            throw OpenSSLError(in: "HKDF of \(seed.count) bytes to \(count)")
        }
        let result = ErasedBytes(count: count)
        let isDone = seed.withUnsafeBytes { seed in
            result.write(0..<count) { result in
                latchkey_hkdf_sha256(
                    algorithm, seed.bindMemory(to: UInt8.self).baseAddress, seed.count, salt, salt.count, info,
                    info.count, result.bindMemory(to: UInt8.self).baseAddress, count)
            }
        }
        guard isDone == 1 else { throw OpenSSLError(in: "EVP_KDF_derive") }
        return result.read(0..<count) { Secret($0) }
    }

    // Fetched once, because each implicit fetch takes a lock. Sound because a fetched algorithm is immutable.
    nonisolated(unsafe) private static let algorithm = EVP_KDF_fetch(nil, "HKDF", nil)
}
