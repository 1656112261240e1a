import Foundation
import LatchkeyCore

/// The claims of a JSON Web Token, read and not verified.
struct JWTClaims {
    let header: [String: Any]
    let claims: [String: Any]

    /// - Parameter token: three parts of base64url joined by dots, of which the first two are JSON objects; else the result is `nil`.
    init?(_ token: some StringProtocol) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(String(parts[0])), let claims = Self.object(String(parts[1]))
        else { return nil }
        self.header = header
        self.claims = claims
    }

    /// A date claim at a path of names, in Unix seconds or ISO 8601.
    func date(_ path: String...) -> Date? { Self.date(value(path)) }

    /// A date in Unix seconds or ISO 8601.
    static func date(_ value: Any?) -> Date? {
        switch value {
        case let number as NSNumber: Date(unixSeconds: number.doubleValue)
        case let text as String: Date(lenientISO8601: text)
        default: nil
        }
    }

    /// A claim that is a text or an array of texts, such as `aud`.
    func texts(_ name: String) -> [String] {
        (claims[name] as? [String]) ?? (claims[name] as? String).map { [$0] } ?? []
    }

    /// A value at a path of names.
    func value(_ path: [String]) -> Any? {
        path.reduce(claims as Any?) { ($0 as? [String: Any])?[$1] }
    }

    /// The claim of the key's id in Azure's tokens.
    static let azureKeyClaim = "urn:microsoft:azure:mediaservices:contentkeyidentifier"

    /// NAGRA's content token: the first of several tokens that commas separate. Content-key and session tokens follow.
    static func nagraContentToken(in text: String) -> JWTClaims? { JWTClaims(text.prefix { $0 != "," }) }

    private static func object(_ part: String) -> [String: Any]? {
        guard let data = Data(lenientBase64: part) else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }
}
