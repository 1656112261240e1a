package import Foundation
import LatchkeyCore
import LatchkeyForms

/// Verifies tokens: signed JWTs in compact form.
///
/// The cheap checks come first: form, key, time, then the signature. The key determines its algorithm; the header only has to agree. A pure
/// function of token, rules, keys and date.
///
/// A signature on a curve costs up to a third of an RSA-1024 private operation: verify on the pool that makes licenses.
///
/// Source: `Documentation/LicenseServer.md` §5.2; RFC 7515 §5.2, RFC 7519 §7.2, RFC 8725 §3.
package struct TokenVerifier: Sendable {
    /// The tenant's requirements on tokens.
    package let rules: TokenRules

    /// - Parameter rules: the tenant's requirements on tokens. Defaults to the defaults of `TokenRules`.
    package init(_ rules: TokenRules = TokenRules()) { self.rules = rules }

    /// Header members that cause a key to be fetched, bring one along, or ask for unsupported features.
    private static let refusedMembers = ["crit", "zip", "enc", "b64", "jku", "x5u", "jwk", "x5c"]

    /// Reads and verifies a token.
    /// - Parameters:
    ///   - text: the token, at most 8 KiB.
    ///   - keys: the keys that sign tokens.
    ///   - date: now.
    /// - Throws: `TokenError`, of the first kind in this order: form, algorithm, key, claim (one that has the wrong form), time,
    ///   signature, claim.
    package func verified(_ text: String, with keys: KeySet, at date: Date) throws(TokenError) -> VerifiedToken {
        let token = try CompactJWS(text, limit: TokenRules.sizeLimit, depth: TokenRules.depthLimit)
        let algorithm = try checkedAlgorithm(token.header)
        let candidates = try keys.candidates(for: token.header["kid"], algorithm)
        let claims = try TokenClaims(token.payload)
        try claims.checkTime(rules, at: date)
        guard let key = candidates.first(where: { $0.signed(token, by: algorithm) }) else {
            throw candidates.count == 1 ? .signature : .signature(ofNone: candidates.count)
        }
        try claims.check(rules)
        return VerifiedToken(
            claims: claims.members, keyID: key.id, expiry: claims.expiry, issued: claims.issued)
    }

    /// The header's algorithm, if the header asks for nothing else.
    private func checkedAlgorithm(_ header: [String: JSONValue]) throws(TokenError) -> TokenAlgorithm {
        if let member = Self.refusedMembers.first(where: { header[$0] != nil }) {
            throw .form("Its header has “\(member)”, which is not accepted.")
        }
        guard case .text(let name)? = header["alg"] else { throw .algorithm("The token's header has no “alg”.") }
        guard let algorithm = TokenAlgorithm(name: name) else {
            throw .algorithm("The token's “alg” is not accepted by this server.")
        }
        if case .text(let stated)? = header["typ"], Self.typeName(stated) == "jwe" {
            throw .form("Its header's “typ” marks an encrypted token.")
        }
        guard let type = rules.type else { return algorithm }
        guard case .text(let stated)? = header["typ"], Self.typeName(stated) == Self.typeName(type) else {
            throw .form("Its header's “typ” is not the type that the rules require.")
        }
        return algorithm
    }

    /// A media type in small letters, without the `application/` that may be left out.
    ///
    /// Source: RFC 7515 §4.1.9.
    private static func typeName(_ type: String) -> String {
        let name = type.lowercased()
        return name.hasPrefix("application/") ? String(name.dropFirst(12)) : name
    }
}
