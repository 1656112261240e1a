package import LatchkeyCore
import LatchkeyDecision
package import LatchkeyForms
import LatchkeyVendorWire

/// A service whose tokens are JWTs.
package protocol SignedTokenService: VendorService {
    /// The key that signs tokens, at most 64 bytes; `nil` accepts any signature.
    var signingKey: Secret? { get set }
    /// The claims of the service's tokens besides their expiry. Defaults to none.
    var usualClaims: [String: JSONValue] { get }
}

extension SignedTokenService {
    package var usualClaims: [String: JSONValue] { [:] }

    package var tokenKeys: [String: Secret] { signingKey.map { ["signingKey": $0] } ?? [:] }

    package func demoToken() -> Secret { token() }

    /// A token that expires in an hour, unless its claims say otherwise.
    /// - Parameter claims: a JSON object with claims in place of the usual ones; any other text counts as no claims.
    package func token(claims: String = "{}") -> Secret { token(claims, keyID: nil) }

    func token(_ claims: String, keyID: String?) -> Secret {
        let members = usualClaims.merging(JSONWebToken.claims(claims, in: environment)) { $1 }
        return Secret(JSONWebToken.text(claims: .object(members), key: signingKey, keyID: keyID))
    }

    /// Reads and checks a token.
    /// - Throws: `tokenMalformed`, `tokenSignature`, `tokenNotYetValid`, `tokenExpired`.
    func checked(_ text: String, algorithms: [String] = ["HS256"]) throws(LicenseRefusal) -> JSONWebToken {
        try JSONWebToken.checked(text, algorithms: algorithms, key: signingKey, date: environment.time.date)
    }

    /// Reads and checks a bearer token, signed with HS256 or RS256; `nil` without one.
    /// - Throws: as `checked`, and `tokenMissing`.
    func checkedIfSent(_ text: String?, isRequired: Bool) throws(LicenseRefusal) -> JSONWebToken? {
        if let text { return try checked(text, algorithms: ["HS256", "RS256"]) }
        guard isRequired else { return nil }
        throw .tokenMissing("the header Authorization")
    }
}
