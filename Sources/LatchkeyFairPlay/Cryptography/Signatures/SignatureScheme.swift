/// A hash of the SHA-2 family.
package enum SHA2: Int, Sendable, Hashable {
    case sha256 = 256
    case sha384 = 384
    case sha512 = 512

    /// The length of a digest in bytes.
    package var count: Int { rawValue / 8 }
}

/// A NIST curve for ECDSA.
package enum EllipticCurve: String, Sendable, Hashable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// The length of a coordinate, and of either half of a signature, in bytes.
    package var coordinateCount: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// libcrypto's name for the curve.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }
}

/// A way to sign with a key pair.
///
/// Source: RFC 7518 §3.3 to §3.5; RFC 8037 §3.1.
package enum SignatureScheme: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5. The signature is as long as the modulus.
    case rsaPKCS1(SHA2)
    /// RSASSA-PSS, with a salt as long as the hash and MGF1 with the same hash. The signature is as long as the modulus.
    case rsaPSS(SHA2)
    /// ECDSA. The signature is r and s, each as long as a coordinate, big-endian.
    case ecdsa(EllipticCurve, SHA2)
    /// Ed25519. The signature has 64 bytes.
    case ed25519

    /// The hash; `nil` for Ed25519, which has its own.
    var hash: SHA2? {
        switch self {
        case .rsaPKCS1(let hash), .rsaPSS(let hash), .ecdsa(_, let hash): hash
        case .ed25519: nil
        }
    }
}
