internal import COpenSSL
package import LatchkeyCore

/// A certificate with an RSA key, to which keys are encrypted.
///
/// It proves who can read, not who may. Callers compare its fingerprint with the fingerprints that they trust.
package struct RecipientCertificate: Sendable {
    private let certificate: X509Certificate
    /// The size of the RSA modulus.
    package let bits: Int
    /// The SHA-256 of the certificate, 32 bytes.
    package let fingerprint: [UInt8]

    /// - Parameter der: one certificate without trailing bytes.
    /// - Returns: `nil` for anything else, and for a key that is not RSA.
    package init?(der: [UInt8]) {
        guard let certificate = X509Certificate(der: der), certificate.encodedCount == der.count,
            let bits = certificate.rsaBits, let fingerprint = try? MessageDigest.sha256(der)
        else { return nil }
        self.certificate = certificate
        self.bits = bits
        self.fingerprint = fingerprint
    }

    /// Encrypts a secret to the certificate's key with OAEP: SHA-1 for hash and mask, an empty label.
    /// - Parameter secret: at most as long as the modulus minus 42 bytes.
    /// - Returns: as many bytes as the modulus.
    /// - Throws: an error if libcrypto fails or the secret is too long.
    package func encryptOAEP(_ secret: Secret) throws(OpenSSLError) -> [UInt8] {
        let result = certificate.withPublicKey { key -> [UInt8]? in
            guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
            defer { EVP_PKEY_CTX_free(context) }
            guard EVP_PKEY_encrypt_init(context) == 1, latchkey_rsa_use_oaep_sha1(context) == 1 else { return nil }
            var wrapped = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
            var count = wrapped.count
            let isDone = secret.withUnsafeBytes { secret in
                EVP_PKEY_encrypt(
                    context, &wrapped, &count, secret.bindMemory(to: UInt8.self).baseAddress, secret.count)
            }
            return isDone == 1 ? Array(wrapped.prefix(count)) : nil
        }
        guard let wrapped = result ?? nil else { throw OpenSSLError(in: "EVP_PKEY_encrypt") }
        return wrapped
    }
}
