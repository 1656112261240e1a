import Foundation
import LatchkeyCore
import LatchkeyForms

/// The claims of a token, with those read that say how long it is valid.
///
/// Source: RFC 7519 §2 and §4.1.
struct TokenClaims {
    let members: [String: JSONValue]
    let expiry: Date
    let issued: Date?
    private let start: Date?

    /// - Parameter payload: a JSON object with `exp`, without duplicate members.
    /// - Throws: `TokenError` of the kind `form` or `claim`.
    init(_ payload: [UInt8]) throws(TokenError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.value(of: payload, depth: TokenRules.depthLimit)
        } catch {
            throw .form("Its payload \(error.reason)")
        }
        guard case .object(let members) = value else { throw .form("Its payload is JSON but not an object.") }
        self.members = members
        guard let expiry = try Self.date("exp", members) else { throw .claim("The token has no “exp”.") }
        self.expiry = expiry
        start = try Self.date("nbf", members)
        issued = try Self.date("iat", members)
        // An ignored “sid” would give each device a separate session, and the account a slot for each.
        for claim in ["iss", "sub", "jti", "sid"] {
            switch members[claim] {
            // One empty name would be one viewer for all.
            case .text("") where claim != "iss":
                throw TokenError(
                    .claim, "The token's “\(claim)” is empty.",
                    remedy: "Set the claim, or omit it.")
            case nil, .text: continue
            default:
                throw TokenError(
                    .claim, "The token's “\(claim)” is \(Self.kind(of: members[claim])), not text.",
                    remedy: "Write the claim as text in quotation marks, as RFC 7519 requires.")
            }
        }
    }

    /// - Throws: `TokenError` of the kind `time`.
    func checkTime(_ rules: TokenRules, at date: Date) throws(TokenError) {
        guard date < expiry else { throw .time("The token's “exp” has passed.") }
        let latest = date.addingTimeInterval(rules.leeway.inSeconds)
        if let start, start > latest { throw .time("The token's “nbf” is in the future.") }
        if let issued, issued > latest { throw .time("The token's “iat” is in the future.") }
        guard expiry.timeIntervalSince(issued ?? date) <= rules.longestLife.inSeconds else {
            throw .time("The token is valid for longer than \(rules.longestLife.inWords).")
        }
    }

    /// - Throws: `TokenError` of the kind `claim`.
    func check(_ rules: TokenRules) throws(TokenError) {
        if !rules.issuers.isEmpty {
            guard let issuer = members["iss"]?.text else { throw .claim("The token has no “iss”.") }
            guard rules.issuers.contains(where: issuer.equalsByteForByte) else {
                throw .claim("The token's “iss” is not accepted by the rules.")
            }
        }
        guard !rules.audiences.isEmpty else { return }
        let audiences = try audiences()
        guard rules.audiences.contains(where: { wanted in audiences.contains(where: wanted.equalsByteForByte) }) else {
            throw .claim("The token's “aud” is not accepted by the rules.")
        }
    }

    /// A value's kind, with its article; never the value.
    private static func kind(of value: JSONValue?) -> String {
        switch value {
        case .number: "a number"
        case .array: "a list"
        case .object: "an object"
        default: "another value"
        }
    }

    /// One text, or several.
    private func audiences() throws(TokenError) -> [String] {
        switch members["aud"] {
        case .text(let audience): return [audience]
        case .array(let values):
            let texts = values.compactMap(\.text)
            guard texts.count == values.count else {
                throw .claim("The token's “aud” is neither text nor a list of texts.")
            }
            return texts
        case nil: throw .claim("The token has no “aud”.")
        default: throw .claim("The token's “aud” is neither text nor a list of texts.")
        }
    }

    /// A number of seconds since 1970, whole or with decimals, up to the year 9999; `nil` without the claim.
    private static func date(_ claim: String, _ members: [String: JSONValue]) throws(TokenError) -> Date? {
        guard let value = members[claim] else { return nil }
        guard case .number(let seconds) = value, (0..<253_402_300_800).contains(seconds) else {
            throw .claim("The token's “\(claim)” is not a number of seconds since 1970.")
        }
        return Date(timeIntervalSince1970: seconds)
    }
}
