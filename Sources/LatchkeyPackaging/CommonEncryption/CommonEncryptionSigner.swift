package import LatchkeyCore
import LatchkeyFairPlay

/// A sender of a packager's requests: the key and IV with which it signs.
///
/// A signature is AES-256-CBC, with the padding of PKCS#7, of the SHA-1 of the request's bytes.
///
/// Source: `Documentation/LicenseServer.md` §4.
package struct CommonEncryptionSigner: Sendable {
    private let key: Secret
    private let iv: [UInt8]

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - iv: 16 bytes.
    /// - Returns: `nil` for other lengths.
    package init?(key: Secret, iv: [UInt8]) {
        guard key.count == 32, iv.count == 16 else { return nil }
        self.key = key
        self.iv = iv
    }

    /// The signature of a request.
    /// - Throws: an error if libcrypto fails.
    package func signature(of request: [UInt8]) throws -> [UInt8] {
        try AES256CBC.encrypt(Secret(try MessageDigest.sha1(request)), key: key, iv: iv)
    }

    /// Whether a signature is this signer's, in a time that does not depend on how much of it is right.
    package func isSignature(_ signature: [UInt8], of request: [UInt8]) -> Bool {
        guard let expected = try? self.signature(of: request) else { return false }
        return expected.withUnsafeBytes { one in signature.withUnsafeBytes { constantTimeEquals(one, $0) } }
    }
}
