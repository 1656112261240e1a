import Foundation
package import LatchkeyCore
package import LatchkeyFairPlay
package import LatchkeyForms

/// Signs tokens, for demonstrations and tests: a token service in small.
///
/// Source: RFC 7515 §5.1; RFC 7519 §7.1.
package struct TokenSigner: Sendable {
    private enum Material {
        case secret(Secret)
        case pair(KeyPair)
    }

    /// The key as a verifier has it.
    package let verificationKey: TokenKey
    private let material: Material

    /// Signs with HMAC.
    /// - Parameters:
    ///   - algorithm: HS256, HS384 or HS512.
    ///   - id: the key's name, which goes into headers. Defaults to none.
    ///   - secret: at least as long as the hash.
    package init(_ algorithm: TokenAlgorithm, id: TokenKeyID? = nil, secret: Secret) throws(KeySetError) {
        verificationKey = try TokenKey(algorithm, id: id, secret: secret)
        material = .secret(secret)
    }

    /// Signs with a key pair.
    /// - Parameters:
    ///   - algorithm: one for this kind of key.
    ///   - id: the key's name, which goes into headers. Defaults to none.
    ///   - pair: the key pair.
    package init(_ algorithm: TokenAlgorithm, id: TokenKeyID? = nil, pair: KeyPair) throws(KeySetError) {
        verificationKey = try TokenKey(algorithm, id: id, publicKey: pair.publicKey)
        material = .pair(pair)
    }

    /// Signs with a new key: libcrypto's random bytes, or a key pair of libcrypto's. RSA gets 2,048 bits.
    /// - Parameters:
    ///   - algorithm: the algorithm.
    ///   - id: the key's name, which goes into headers. Defaults to none.
    /// - Throws: `OpenSSLError`; `KeySetError` does not happen.
    package init(generating algorithm: TokenAlgorithm, id: TokenKeyID? = nil) throws {
        switch algorithm.method {
        case .hmac(let hash):
            var generator = CryptographicGenerator()
            var secret = (0..<hash.count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            defer { erase(&secret) }
            try self.init(algorithm, id: id, secret: Secret(secret))
        case .signature(.rsaPKCS1), .signature(.rsaPSS):
            try self.init(algorithm, id: id, pair: KeyPair(.rsa(bits: TokenKey.smallestRSA)))
        case .signature(.ecdsa(let curve, _)): try self.init(algorithm, id: id, pair: KeyPair(.elliptic(curve)))
        case .signature(.ed25519): try self.init(algorithm, id: id, pair: KeyPair(.ed25519))
        }
    }

    /// A token with these claims.
    /// - Parameters:
    ///   - claims: all claims; none is added.
    ///   - type: the header's `typ`. Defaults to `JWT`; `nil` leaves it out.
    package func token(_ claims: [String: JSONValue], type: String? = "JWT") throws(OpenSSLError) -> Secret {
        var header: [String: JSONValue] = ["alg": .text(verificationKey.algorithm.rawValue)]
        if let type { header["typ"] = .text(type) }
        if let id = verificationKey.id { header["kid"] = .text(id.text) }
        return try token(
            header: Data(JSONValue.object(header).canonicalText.utf8),
            payload: Data(JSONValue.object(claims).canonicalText.utf8))
    }

    /// A token of these bytes, whatever they are.
    func token(header: Data, payload: Data) throws(OpenSSLError) -> Secret {
        let text = CompactJWS.signed(header: header, payload: payload)
        return Secret("\(text).\(Base64URL.text(try signature(of: Array(text.utf8))))")
    }

    private func signature(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        switch (verificationKey.algorithm.method, material) {
        case (.hmac(let hash), .secret(let secret)): try MessageDigest.hmac(hash, key: secret, message)
        case (.signature(let scheme), .pair(let pair)): try pair.signature(of: message, scheme)
        default: throw OpenSSLError(in: "a scheme of another kind of key")
        }
    }
}
