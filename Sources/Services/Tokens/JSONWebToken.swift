import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// A JSON web token, signed with HS256 or HS512.
///
/// Source: RFC 7519, RFC 7515 §3.1, RFC 7518 §3.2.
struct JSONWebToken: Sendable {
    /// The algorithm that the header names; empty where it names none.
    let algorithm: String
    /// The claims.
    let claims: JSONValue

    private let signed: String
    private let signature: Data

    /// - Parameter text: header, claims and signature in URL-safe base64 with dots between; nil comes back for other text.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 3, let header = Data(lenientBase64: parts[0]).flatMap({ JSONValue($0) }),
            let claims = Data(lenientBase64: parts[1]).flatMap({ JSONValue($0) }), case .object = claims,
            let signature = Data(lenientBase64: parts[2])
        else { return nil }
        algorithm = header["alg"]?.text ?? ""
        self.claims = claims
        self.signature = signature
        signed = "\(parts[0]).\(parts[1])"
    }

    /// Whether the token is signed with a key of at most 64 bytes; compares in constant time.
    func isSigned(with key: Secret) -> Bool {
        guard let expected = Self.signature(of: signed, algorithm, key) else { return false }
        return Secret(expected) == Secret(signature)
    }

    /// The text of a token.
    /// - Parameters:
    ///   - claims: the claims.
    ///   - key: signs, at most 64 bytes; nil leaves a signature of zeros.
    ///   - algorithm: HS256 or HS512; HS256 unless given.
    ///   - keyID: the header's `kid`, letters and digits; left out where it is nil.
    static func text(claims: JSONValue, key: Secret?, algorithm: String = "HS256", keyID: String? = nil) -> String {
        let kid = keyID.map { #","kid":"\#($0)""# } ?? ""
        let header = base64URL(Data(#"{"alg":"\#(algorithm)","typ":"JWT"\#(kid)}"#.utf8))
        let body = base64URL((try? JSONEncoder().encode(claims)) ?? Data())
        let signature = key.flatMap { Self.signature(of: "\(header).\(body)", algorithm, $0) } ?? Data(count: 32)
        return "\(header).\(body).\(base64URL(signature))"
    }

    private static func signature(of text: String, _ algorithm: String, _ key: Secret) -> Data? {
        key.withUnsafeBytes { key in
            switch algorithm {
            case "HS256": try? Data(MessageDigest.hmacSHA256(key: key, Array(text.utf8)))
            case "HS512": try? Data(MessageDigest.hmacSHA512(key: key, Array(text.utf8)))
            default: nil
            }
        }
    }

    /// Base64 in the URL-safe alphabet, without padding.
    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
