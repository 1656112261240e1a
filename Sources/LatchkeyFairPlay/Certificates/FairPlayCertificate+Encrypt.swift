internal import COpenSSL

extension FairPlayCertificate {
    /// Encrypts a message with the certificate's key: RSA-OAEP with SHA-1, as a device encrypts its payload key.
    /// - Parameters:
    ///   - message: at most 86 bytes.
    ///   - generator: the source of the 20-byte seed.
    /// - Returns: the ciphertext, as long as the modulus.
    package func encryptOAEP(
        _ message: [UInt8], using generator: inout some RandomNumberGenerator
    ) throws(OpenSSLError) -> [UInt8] {
        let count = rsaBits / 8
        let seed = (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
        guard let encoded = try OAEP.encode(message, count: count, seed: seed),
            let encrypted = x509.withPublicKey({ Self.encrypt(encoded, with: $0) }) ?? nil
        else { throw OpenSSLError(in: "EVP_PKEY_encrypt") }
        return encrypted
    }

    private static func encrypt(_ encoded: [UInt8], with key: OpaquePointer) -> [UInt8]? {
        guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var encrypted = [UInt8](repeating: 0, count: encoded.count)
        var count = encrypted.count
        guard EVP_PKEY_encrypt_init(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1,
            EVP_PKEY_encrypt(context, &encrypted, &count, encoded, encoded.count) == 1, count == encoded.count
        else { return nil }
        return encrypted
    }
}
