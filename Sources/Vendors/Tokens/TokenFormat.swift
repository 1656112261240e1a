public import Foundation
public import LatchkeyCore

/// What form a vendor's token has. Looking into it gives advice; a client cannot check a signature.
///
/// Source: `vendors.md` §23.9.
public enum TokenFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing to see.
    case opaque
    /// A JSON Web Token.
    case jwt
    /// VuDRM's parts, separated by `|`.
    case vuDRM
}

extension TokenFormat {
    /// The format that a token seems to have.
    public static func detect(_ token: String) -> TokenFormat {
        let parts = token.split(separator: "|", omittingEmptySubsequences: false).count
        if parts == 4 || parts == 5 { return .vuDRM }
        return JWTClaims(token) == nil ? .opaque : .jwt
    }

    /// What a token says of itself and what is wrong with it.
    ///
    /// - Parameters:
    ///   - token: the token's text.
    ///   - keyID: the key that it is wanted for; whether it covers the key is checked where the token lists keys.
    ///   - purpose: what the key is wanted for; a stored key needs the token's leave.
    ///   - date: the time to check its dates against.
    public func inspect(
        _ token: String, keyID: KeyID? = nil, purpose: KeyPurpose = .streaming, at date: Date
    ) -> TokenInspection {
        switch self {
        case .opaque: TokenInspection(format: .opaque)
        case .jwt: .jwt(token, keyID: keyID, purpose: purpose, at: date)
        case .vuDRM: .vuDRM(token, at: date)
        }
    }
}

/// What a token says of itself: facts in the order to show them, and advice.
public struct TokenInspection: Sendable, Hashable {
    /// The form that was assumed.
    public var format: TokenFormat
    /// Facts that are not secret.
    public var facts: [Fact] = []
    /// What is wrong or may be; empty where nothing is.
    public var advice: [Advice] = []

    /// A name and a value.
    public struct Fact: Sendable, Hashable {
        /// What it is, such as `expires`.
        public var name: String
        /// Its value.
        public var value: String
    }

    /// What a look into a token can find.
    public enum Advice: Sendable, Hashable {
        /// It is not of the form that the vendor documents.
        case malformed(String)
        /// Its time is over.
        case expired(Date)
        /// Its time has not begun.
        case notYetValid(Date)
        /// It lists keys, and not this one.
        case keyNotCovered
        /// It does not let the key be stored.
        case noOfflineRight
        /// It may have run out; its lifetime is an account's setting and not in the token.
        case mayHaveExpired(generated: Date)
    }
}

extension TokenInspection.Advice: CustomStringConvertible {
    /// A stable name of the advice.
    public var code: String {
        switch self {
        case .malformed: "malformed"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .keyNotCovered: "keyNotCovered"
        case .noOfflineRight: "noOfflineRight"
        case .mayHaveExpired: "mayHaveExpired"
        }
    }

    public var description: String {
        switch self {
        case .malformed(let reason): "The token is malformed: \(reason)."
        case .expired(let date): "The token expired at \(date.iso8601)."
        case .notYetValid(let date): "The token is valid from \(date.iso8601) only."
        case .keyNotCovered: "The token does not cover this key."
        case .noOfflineRight: "The token does not allow the key to be stored."
        case .mayHaveExpired(let date): "The token was generated at \(date.iso8601); production tokens live about 30 s."
        }
    }
}

extension Date {
    /// The date in ISO 8601, whole seconds, UTC.
    package var iso8601: String { formatted(.iso8601) }
}
