package import LatchkeyCore
package import LatchkeyFairPlay

/// A key that verifies tokens, with the algorithms that it is for: one, unless it is RSA, states none, and the tenant lists several.
///
/// Source: RFC 8725 §3.1 and §3.5; `Documentation/LicenseServer.md` §5.2.
package struct TokenKey: Sendable, CustomStringConvertible {
    /// The smallest RSA modulus in bits: 2,048.
    package static let smallestRSA = 2_048

    private static let pemStart = Array("-----BEGIN".utf8)

    private enum Material {
        case secret(Secret)
        case publicKey(PublicKey)
    }

    /// The key's name; `nil` for a key that a token without `kid` means.
    package let id: TokenKeyID?
    /// The algorithm; the first one of several. A token with any other is refused.
    package let algorithm: TokenAlgorithm
    private let others: [TokenAlgorithm]
    private let material: Material

    /// A key for HMAC.
    /// - Parameters:
    ///   - algorithm: HS256, HS384 or HS512.
    ///   - id: the key's name. Defaults to none.
    ///   - secret: at least as long as the hash: 32, 48 or 64 bytes. Never PEM, which looks like a public key.
    package init(_ algorithm: TokenAlgorithm, id: TokenKeyID? = nil, secret: Secret) throws(KeySetError) {
        guard case .hmac(let hash) = algorithm.method else {
            throw KeySetError(id, "it is a secret, but \(algorithm.rawValue) needs a public key")
        }
        guard secret.count >= hash.count else {
            throw KeySetError(
                id, "it has \(secret.count) bytes, but \(algorithm.rawValue) needs at least \(hash.count)",
                remedy: "Sign with a secret of \(hash.count) random bytes.")
        }
        guard !secret.withUnsafeBytes({ bytes in bytes.indices.contains { bytes[$0...].starts(with: Self.pemStart) } })
        else {
            throw KeySetError(id, "it is PEM, which cannot be a secret for \(algorithm.rawValue)")
        }
        self.id = id
        (self.algorithm, others) = (algorithm, [])
        material = .secret(secret)
    }

    /// A public key.
    /// - Parameters:
    ///   - algorithm: one for this kind of key.
    ///   - id: the key's name. Defaults to none.
    ///   - publicKey: RSA of at least 2,048 bits, Ed25519, or on the algorithm's curve.
    package init(_ algorithm: TokenAlgorithm, id: TokenKeyID? = nil, publicKey: PublicKey) throws(KeySetError) {
        try self.init(algorithm, id: id, publicKey: publicKey, others: [])
    }

    /// A public key that is for some algorithms of its kind.
    init(
        _ algorithm: TokenAlgorithm, id: TokenKeyID?, publicKey: PublicKey, others: [TokenAlgorithm]
    ) throws(KeySetError) {
        guard algorithm.takes(publicKey.kind) else {
            throw KeySetError(id, "its kind does not match \(algorithm.rawValue)")
        }
        if case .rsa(let bits) = publicKey.kind, bits < Self.smallestRSA {
            throw KeySetError(
                id, "it has \(bits) bits, but RSA needs at least \(Self.smallestRSA)", remedy: .largerRSA)
        }
        self.id = id
        self.algorithm = algorithm
        self.others = others.filter { $0 != algorithm && $0.takes(publicKey.kind) }
        material = .publicKey(publicKey)
    }

    /// A public key in PEM.
    /// - Parameters:
    ///   - algorithm: one for this kind of key; never one with HMAC.
    ///   - id: the key's name. Defaults to none.
    ///   - pem: a block `PUBLIC KEY`, at most 64 KiB.
    package init(_ algorithm: TokenAlgorithm, id: TokenKeyID? = nil, pem: [UInt8]) throws(KeySetError) {
        guard case .signature = algorithm.method else {
            throw KeySetError(id, "it is PEM, which cannot be a secret for \(algorithm.rawValue)")
        }
        try self.init(algorithm, id: id, publicKey: try Self.publicKey(pem: pem, id))
    }

    /// All its algorithms.
    package var algorithms: [TokenAlgorithm] { [algorithm] + others }

    /// A public key in PEM, with the algorithm of its kind.
    /// - Parameters:
    ///   - pem: a block `PUBLIC KEY`.
    ///   - taken: the algorithms that the tenant takes; empty for all. With RSA it is for those, else for RS256.
    init(pem: [UInt8], of taken: [TokenAlgorithm]) throws(KeySetError) {
        try self.init(try Self.publicKey(pem: pem, nil), id: nil, stated: nil, of: taken)
    }

    private static func publicKey(pem: [UInt8], _ id: TokenKeyID?) throws(KeySetError) -> PublicKey {
        guard pem.count <= KeySet.limit else { throw KeySetError(id, "it is longer than \(KeySet.limit) bytes") }
        guard !String(decoding: pem, as: UTF8.self).contains("PRIVATE KEY-----") else {
            throw KeySetError(
                id, "it is a private key, which does not belong here",
                remedy: "Publish only the public key, as written by openssl pkey -pubout.")
        }
        guard let key = PublicKey(pem: pem) else {
            throw KeySetError(
                id, "it is not a PEM block PUBLIC KEY with a key of a known kind",
                remedy: "Write the public key with openssl pkey -pubout.")
        }
        return key
    }

    /// The name and the algorithms; never the key.
    package var description: String {
        "\(id.map { "“\($0)”" } ?? "without a name") (\(algorithms.map(\.rawValue).joined(separator: ", ")))"
    }

    /// The public key; `nil` for a secret.
    var publicKey: PublicKey? {
        guard case .publicKey(let key) = material else { return nil }
        return key
    }

    /// Whether the key signed a token. Compares MACs in constant time.
    /// - Parameter algorithm: the token's algorithm. Defaults to the key's first one.
    func signed(_ token: CompactJWS, by stated: TokenAlgorithm? = nil) -> Bool {
        let algorithm = stated ?? algorithm
        guard algorithms.contains(algorithm) else { return false }
        switch (algorithm.method, material) {
        case (.hmac(let hash), .secret(let secret)):
            guard let mac = try? MessageDigest.hmac(hash, key: secret, token.signed) else { return false }
            return Secret(mac) == Secret(token.signature)
        case (.signature(let scheme), .publicKey(let key)):
            return key.verifies(token.signature, of: token.signed, scheme)
        default:
            return false
        }
    }
}

extension String {
    /// The remedy for a key of RSA that is too small.
    static let largerRSA = "Sign with a key of at least \(TokenKey.smallestRSA) bits."
}
