import Foundation
import LatchkeyCore
import LatchkeyServer

extension JSONWebToken {
    /// A token that was looked at as far as the service can.
    ///
    /// - Parameters:
    ///   - text: the token.
    ///   - algorithms: those that the vendor documents.
    ///   - key: the key that it has to be signed with, at most 64 bytes; nil takes any signature.
    ///   - date: now, for `nbf` and `exp` where the claims have them.
    /// - Throws: `tokenMalformed`, `tokenSignature`, `tokenNotYetValid`, `tokenExpired`.
    static func checked(
        _ text: String, algorithms: [String] = ["HS256"], key: Secret?, date: Date
    ) throws(LicenseRefusal) -> JSONWebToken {
        guard let token = JSONWebToken(text) else { throw .tokenMalformed("The token is not a JWT.") }
        guard algorithms.contains(token.algorithm) else {
            let names = algorithms.joined(separator: " or ")
            throw .tokenMalformed("The token's algorithm is “\(token.algorithm.prefix(20))” and not \(names).")
        }
        if let key, !token.isSigned(with: key) {
            throw LicenseRefusal(
                .tokenSignature, reason: "The token is not signed with the customer's key.",
                remedy: "Sign it with the key that the service was configured with.")
        }
        if let start = token.claims["nbf"]?.number, date.timeIntervalSince1970 < start {
            throw .tokenNotYetValid("The token's “nbf” is still to come.")
        }
        if let end = token.claims["exp"]?.number, date.timeIntervalSince1970 >= end {
            throw .tokenExpired("The token's “exp” is over.")
        }
        return token
    }

    /// Claims with an `exp` in an hour, unless the stated ones have another.
    /// - Parameter json: a JSON object; other text counts as no claims.
    static func claims(_ json: String, at date: Date) -> [String: JSONValue] {
        let expiry = JSONValue.number(date.timeIntervalSince1970.rounded() + 3_600)
        guard case .object(let stated) = JSONValue(Data(json.utf8)) else { return ["exp": expiry] }
        return ["exp": expiry].merging(stated) { $1 }
    }
}

extension JSONValue {
    /// A positive number of seconds.
    var seconds: Duration? { number.flatMap { $0 > 0 && $0 < 4e9 ? .seconds($0) : nil } }
}
