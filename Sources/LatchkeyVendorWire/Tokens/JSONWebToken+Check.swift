package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms

extension JSONWebToken {
    /// Reads and checks a token.
    ///
    /// - Parameters:
    ///   - text: the token.
    ///   - algorithms: the vendor's documented algorithms.
    ///   - key: the key that signs tokens, at most 64 bytes; `nil` accepts any signature.
    ///   - date: now, for `nbf` and `exp`.
    /// - Throws: `tokenMalformed`, `tokenSignature`, `tokenNotYetValid`, `tokenExpired`.
    package static func checked(
        _ text: String, algorithms: [String] = ["HS256"], key: Secret?, date: Date
    ) throws(LicenseRefusal) -> JSONWebToken {
        guard let token = JSONWebToken(text) else {
            throw .tokenMalformed("The token is not a JWT, or its header requires an unsupported extension.")
        }
        guard algorithms.contains(token.algorithm) else {
            let names = algorithms.joined(separator: " or ")
            throw .tokenMalformed("The token's algorithm is “\(token.algorithm.prefix(20))” and not \(names).")
        }
        if let key, !token.isSigned(with: key) {
            throw LicenseRefusal(.tokenSignature, reason: "The token is not signed with the customer's key.")
        }
        _ = try token.date(of: "iat")
        if let start = try token.date(of: "nbf"), date < start {
            throw .tokenNotYetValid("The token's “nbf” is in the future.")
        }
        if let end = try token.date(of: "exp"), date >= end { throw .tokenExpired("The token's “exp” has passed.") }
        return token
    }

    /// The date of a claim; `nil` without the claim.
    /// - Throws: `tokenMalformed` unless it is a number of seconds since 1970, up to the year 9999.
    ///
    /// Source: RFC 7519 §2, NumericDate.
    package func date(of claim: String) throws(LicenseRefusal) -> Date? {
        guard let value = claims[claim] else { return nil }
        guard case .number(let seconds) = value, (0..<253_402_300_800).contains(seconds) else {
            throw .tokenMalformed("The token's “\(claim)” is not a number of seconds since 1970.")
        }
        return Date(timeIntervalSince1970: seconds)
    }
}

extension JSONValue {
    /// A positive number of seconds, at most the longest time that a CKC can state.
    package var seconds: Duration? { number.flatMap { $0 > 0 ? Duration(clampingSeconds: $0) : nil } }
}
