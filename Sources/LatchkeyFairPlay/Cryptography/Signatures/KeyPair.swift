internal import COpenSSL
package import LatchkeyCore

/// A key pair for signing. Safe for concurrent use from any number of threads.
package struct KeyPair: Sendable {
    private let key: AsymmetricKey

    /// Generates a key pair with libcrypto's randomness. An RSA key can take seconds.
    package init(_ kind: PublicKey.Kind) throws(OpenSSLError) {
        let pointer =
            switch kind {
            case .rsa(let bits): latchkey_rsa_generate(max(0, bits))
            case .elliptic(let curve): latchkey_ec_generate(curve.groupName)
            case .ed25519: latchkey_ed25519_generate()
            }
        guard let pointer else { throw OpenSSLError(in: "EVP_PKEY_Q_keygen") }
        guard let key = AsymmetricKey(adopting: pointer) else { throw OpenSSLError(in: "the kind of a new key") }
        self.key = key
    }

    /// - Parameter pem: a private key, PKCS#8 or traditional, not encrypted.
    /// - Returns: `nil` for anything else and for other kinds of keys.
    package init?(pem: Secret) {
        // The callback refuses to give a password, so that libcrypto does not ask on the terminal.
        guard let bio = MemoryBIO(pem.withUnsafeBytes { Array($0) }),
            let key = AsymmetricKey(adopting: PEM_read_bio_PrivateKey(bio.pointer, nil, { _, _, _, _ in -1 }, nil))
        else { return nil }
        self.key = key
    }

    /// - Parameter seed: the 32 bytes of an Ed25519 private key; `nil` for another length.
    package init?(ed25519 seed: Secret) {
        let pointer = seed.withUnsafeBytes { bytes in
            EVP_PKEY_new_raw_private_key_ex(
                nil, "ED25519", nil, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
        }
        guard let key = AsymmetricKey(adopting: pointer) else { return nil }
        self.key = key
    }

    /// The public half, which verifies signatures and contains no part of the private key.
    package var publicKey: PublicKey { PublicKey(key) }

    /// The private key in PKCS#8 PEM form, not encrypted.
    package func pem() throws(OpenSSLError) -> Secret {
        let isWritten = { (bio: MemoryBIO) in
            key.withPointer { PEM_write_bio_PKCS8PrivateKey(bio.pointer, $0, nil, nil, 0, nil, nil) == 1 }
        }
        guard let bio = MemoryBIO(), isWritten(bio) else { throw OpenSSLError(in: "PEM_write_bio_PKCS8PrivateKey") }
        return bio.withContents { Secret($0) }
    }

    /// The signature of a message.
    package func signature(of message: [UInt8], _ scheme: SignatureScheme) throws(OpenSSLError) -> [UInt8] {
        guard let count = key.signatureCount(scheme) else { throw OpenSSLError(in: "a scheme of another kind of key") }
        guard let made = key.withPointer({ Self.signature(of: message, $0, scheme) }) else {
            throw OpenSSLError(in: "EVP_DigestSign")
        }
        guard case .ecdsa(let curve, _) = scheme else { return made }
        guard let raw = ECDSASignature.raw(made, coordinateCount: curve.coordinateCount), raw.count == count else {
            throw OpenSSLError(in: "d2i_ECDSA_SIG")
        }
        return raw
    }

    private static func signature(of message: [UInt8], _ key: OpaquePointer, _ scheme: SignatureScheme) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        let hash = scheme.hash?.algorithm
        var operation: OpaquePointer?
        guard scheme.hash == nil || hash != nil, EVP_DigestSignInit(context, &operation, hash, nil, key) == 1 else {
            return nil
        }
        if case .rsaPSS = scheme, latchkey_rsa_use_pss(operation, hash) != 1 { return nil }
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
        var count = signature.count
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { return nil }
        return Array(signature.prefix(count))
    }
}
