import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyForms

/// A JSON web token, signed with HS256 or HS512.
///
/// Read as strictly as the standards say, because no vendor promises that its service is lenient: URL-safe base64 in canonical form,
/// without padding; no duplicate member; no critical header.
///
/// Source: RFC 7519, RFC 7515 §2, §3.1 and §4.1.11, RFC 7518 §3.2.
package struct JSONWebToken: Sendable {
    /// The algorithm in the header; empty if it has none.
    package let algorithm: String
    /// The claims.
    package let claims: JSONValue

    private let signed: [UInt8]
    private let signature: [UInt8]

    /// - Parameter text: header, claims and signature in URL-safe base64, separated by dots. The result is `nil` for other text and
    ///   for a header with `crit`.
    package init?(_ text: String) {
        guard let token = try? CompactJWS(text), let claims = JSONValue(token.payload), case .object = claims else {
            return nil
        }
        // No extension is supported, so no critical one is.
        guard token.header["crit"] == nil else { return nil }
        algorithm = token.header["alg"]?.text ?? ""
        self.claims = claims
        signature = token.signature
        signed = token.signed
    }

    /// Whether a key of at most 64 bytes signed the token. Compares in constant time.
    package func isSigned(with key: Secret) -> Bool {
        guard let expected = Self.signature(of: signed, algorithm, key) else { return false }
        return Secret(expected) == Secret(signature)
    }

    /// The text of a token.
    /// - Parameters:
    ///   - claims: the claims.
    ///   - key: signs, at most 64 bytes; `nil` makes a signature of zeros.
    ///   - algorithm: HS256 or HS512. Defaults to HS256.
    ///   - keyID: the header's `kid`, letters and digits. Defaults to none.
    package static func text(claims: JSONValue, key: Secret?, algorithm: String = "HS256", keyID: String? = nil)
        -> String
    {
        let kid = keyID.map { #","kid":"\#($0)""# } ?? ""
        let header = Data(#"{"alg":"\#(algorithm)","typ":"JWT"\#(kid)}"#.utf8)
        let text = CompactJWS.signed(header: header, payload: Data(claims.canonicalText.utf8))
        let signature =
            key.flatMap { Self.signature(of: Array(text.utf8), algorithm, $0) } ?? [UInt8](repeating: 0, count: 32)
        return "\(text).\(Base64URL.text(signature))"
    }

    private static func signature(of message: [UInt8], _ algorithm: String, _ key: Secret) -> [UInt8]? {
        key.withUnsafeBytes { key in
            switch algorithm {
            case "HS256": try? MessageDigest.hmacSHA256(key: key, message)
            case "HS512": try? MessageDigest.hmacSHA512(key: key, message)
            default: nil
            }
        }
    }
}
