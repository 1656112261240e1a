import Foundation
import LatchkeyCore
import LatchkeyForms

/// The claims of a JSON Web Token, read and not verified.
struct JWTClaims {
    let header: JSONValue
    let claims: JSONValue

    /// - Parameter token: three parts of base64url joined by dots, of which the first two are JSON objects; else the result is `nil`.
    init?(_ token: some StringProtocol) {
        // Most texts are not tokens, and a check by bytes costs little.
        guard token.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { JSONValue(base64: String($0)) }
        guard parts.count == 3, let header = parts[0], let claims = parts[1], case .object = header,
            case .object = claims
        else { return nil }
        (self.header, self.claims) = (header, claims)
    }

    /// A date claim at a path of names, in Unix seconds or ISO 8601.
    func date(_ path: String...) -> Date? { value(path)?.date }

    /// For whom the token is.
    var audience: [String] { claims["aud"]?.texts ?? [] }

    /// A value at a path of names.
    func value(_ path: [String]) -> JSONValue? { path.reduce(claims) { $0?[$1] } }

    /// The claim of the key's id in Azure's tokens.
    static let azureKeyClaim = "urn:microsoft:azure:mediaservices:contentkeyidentifier"

    /// NAGRA's content token: the first of several tokens that commas separate. Content-key and session tokens follow.
    static func nagraContentToken(in text: String) -> JWTClaims? {
        JWTClaims(text[..<(text.utf8.firstIndex(of: UInt8(ascii: ",")) ?? text.endIndex)])
    }
}

extension JSONValue {
    /// - Parameter base64: base64 or base64url of JSON.
    init?(base64: String) { self.init(Data(lenientBase64: base64) ?? Data()) }

    /// A date in Unix seconds or ISO 8601.
    var date: Date? {
        switch self {
        case .number(let seconds): Date(unixSeconds: seconds)
        case .text(let text): Date(lenientISO8601: text)
        default: nil
        }
    }

    /// Whether a date is of the years 1973 to 5138 in milliseconds; as seconds it would be after the year 5138.
    var isMilliseconds: Bool { if case .number(let number) = self { (1e11...1e14).contains(number) } else { false } }

    /// A number of seconds, as it is shown.
    var seconds: String? { if case .number = self { "\(canonicalText) s" } else { nil } }
}
