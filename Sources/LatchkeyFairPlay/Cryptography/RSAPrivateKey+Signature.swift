internal import COpenSSL

/// PKCS#1 v1.5 signatures with SHA-1, for old formats that use them.
extension RSAPrivateKey {
    /// The signature of a message. It is as long as the modulus.
    package func signature(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let result = withKey { key -> [UInt8]? in
            guard let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
            var count = signature.count
            guard EVP_DigestSignInit(context, nil, EVP_sha1(), nil, key) == 1,
                EVP_DigestSign(context, &signature, &count, message, message.count) == 1
            else { return nil }
            return Array(signature.prefix(count))
        }
        guard let result else { throw OpenSSLError(in: "EVP_DigestSign") }
        return result
    }

    /// Whether a signature was made with this key.
    package func isSigned(_ message: [UInt8], with signature: [UInt8]) -> Bool {
        let isGood = withKey { key in
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit(context, nil, EVP_sha1(), nil, key) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
        if !isGood { OpenSSLError.discardQueue() }
        return isGood
    }
}
