import Foundation
package import LatchkeyCore
import LatchkeyFairPlay

/// How a caller proves who it is, as it is stored: never the secret, only its SHA-256.
///
/// A plain SHA-256 is right for random keys of 128 bits and more, not for passwords that people choose.
package struct CallerCredential: Sendable, Hashable {
    /// Where a request carries it.
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// `X-API-Key: KEY`; of the key.
        case apiKey
        /// `Authorization: Basic …`; of `USER:PASSWORD`.
        case basic
        /// `Authorization: Bearer TOKEN`; of the token.
        case bearer
        /// `X-Client-Cert-SHA256: HEX` from a trusted proxy; of the client's certificate in DER.
        case certificate
    }

    /// Where a request carries it.
    package let kind: Scheme
    /// 32 bytes.
    let digest: [UInt8]

    /// - Parameters:
    ///   - kind: where a request carries it.
    ///   - sha256: 64 hexadecimal digits, in either case and with or without colons between the bytes. The result is `nil` for others.
    package init?(_ kind: Scheme, sha256: String) {
        guard sha256.utf8.count <= 95, let digest = Data(hexString: sha256.replacing(":", with: "")), digest.count == 32
        else { return nil }
        self.kind = kind
        self.digest = Array(digest)
    }

    /// The stored form of a secret.
    /// - Throws: an error if libcrypto has no SHA-256.
    package init(_ kind: Scheme, secret: Secret) throws {
        self.kind = kind
        digest = try MessageDigest.sha256(Array(secret.revealed))
    }

    /// Whether two are the same, in a time that does not depend on where they differ.
    package func matches(_ other: CallerCredential) -> Bool {
        let isSameDigest = digest.withUnsafeBytes { one in
            other.digest.withUnsafeBytes { constantTimeEquals(one, $0) }
        }
        return isSameDigest && kind == other.kind
    }
}
