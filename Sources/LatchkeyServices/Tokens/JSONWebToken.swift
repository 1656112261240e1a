import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyServer

/// A JSON web token, signed with HS256 or HS512.
///
/// Read as strictly as the standards say, because no vendor promises that its service is lenient: URL-safe base64 in its one
/// spelling, without padding; no duplicate member; no critical header.
///
/// Source: RFC 7519, RFC 7515 §2, §3.1 and §4.1.11, RFC 7518 §3.2.
struct JSONWebToken: Sendable {
    /// The algorithm in the header; empty if it has none.
    let algorithm: String
    /// The claims.
    let claims: JSONValue

    private let signed: String
    private let signature: Data

    /// - Parameter text: header, claims and signature in URL-safe base64, separated by dots. The result is `nil` for other text and
    ///   for a header with `crit`.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 3, let header = Self.bytes(parts[0]).flatMap({ JSONValue($0) }),
            let claims = Self.bytes(parts[1]).flatMap({ JSONValue($0) }), case .object = claims,
            let signature = Self.bytes(parts[2]), !signature.isEmpty
        else { return nil }
        // No extension is supported, so no critical one is.
        guard case .object(let names) = header, names["crit"] == nil else { return nil }
        algorithm = header["alg"]?.text ?? ""
        self.claims = claims
        self.signature = signature
        signed = "\(parts[0]).\(parts[1])"
    }

    /// Whether a key of at most 64 bytes signed the token. Compares in constant time.
    func isSigned(with key: Secret) -> Bool {
        guard let expected = Self.signature(of: signed, algorithm, key) else { return false }
        return Secret(expected) == Secret(signature)
    }

    /// The text of a token.
    /// - Parameters:
    ///   - claims: the claims.
    ///   - key: signs, at most 64 bytes; `nil` makes a signature of zeros.
    ///   - algorithm: HS256 or HS512. Defaults to HS256.
    ///   - keyID: the header's `kid`, letters and digits. Defaults to none.
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
        let text = data.base64EncodedString().utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text that `base64URL` would write; `nil` for every other spelling of them.
    private static func bytes(_ text: String) -> Data? {
        guard let data = Data(lenientBase64: text), base64URL(data) == text else { return nil }
        return data
    }
}
