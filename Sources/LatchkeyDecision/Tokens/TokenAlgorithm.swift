package import LatchkeyFairPlay

/// An algorithm that signs tokens. There is no `none`.
///
/// Source: RFC 7518 §3.1; RFC 8037 §3.1; RFC 9864 §2.2.
package enum TokenAlgorithm: String, Sendable, Hashable, CaseIterable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// Ed25519; no other curve. Its other name is `Ed25519`.
    case edDSA = "EdDSA"

    /// - Parameter name: the name in a header or a key, such as `ES256`; `EdDSA` and `Ed25519` are one. Others give `nil`.
    package init?(name: String) { self.init(rawValue: name == "Ed25519" ? "EdDSA" : name) }

    /// How an algorithm signs.
    package enum Method: Sendable, Hashable {
        /// HMAC, with a secret that both sides have.
        case hmac(SHA2)
        /// A key pair.
        case signature(SignatureScheme)
    }

    /// How the algorithm signs.
    package var method: Method {
        switch self {
        case .hs256: .hmac(.sha256)
        case .hs384: .hmac(.sha384)
        case .hs512: .hmac(.sha512)
        case .rs256: .signature(.rsaPKCS1(.sha256))
        case .rs384: .signature(.rsaPKCS1(.sha384))
        case .rs512: .signature(.rsaPKCS1(.sha512))
        case .ps256: .signature(.rsaPSS(.sha256))
        case .ps384: .signature(.rsaPSS(.sha384))
        case .ps512: .signature(.rsaPSS(.sha512))
        case .es256: .signature(.ecdsa(.p256, .sha256))
        case .es384: .signature(.ecdsa(.p384, .sha384))
        case .es512: .signature(.ecdsa(.p521, .sha512))
        case .edDSA: .signature(.ed25519)
        }
    }

    /// Whether a key is of the kind that the algorithm needs.
    func takes(_ kind: PublicKey.Kind) -> Bool {
        switch (method, kind) {
        case (.signature(.rsaPKCS1), .rsa), (.signature(.rsaPSS), .rsa), (.signature(.ed25519), .ed25519): true
        case (.signature(.ecdsa(let curve, _)), .elliptic(let other)): curve == other
        default: false
        }
    }
}
