package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// VuDRM's wire.
///
/// The vendor's service makes tokens by an unpublished method. Here the customer's token service makes them: see `VuDRMToken.hash(of:_:)`.
/// The policy may have `user_id` and `session_id`, too.
///
/// Source: `Documentation/Vendors/VuDRM.md`.
package struct VuDRMAPI: VendorAPI {
    package static let name: VendorAPIName = "vudrm"
    package static let tokenFields = [VuDRMForm.tokenField]
    /// The customer's name, which is in tokens and in the certificate's address; `nil` accepts any.
    package var client: String?
    /// The secret with which the customer's tokens are hashed; `nil` accepts any customer's, with any hash.
    package var secret: Secret?
    /// The maximum age of a token; `nil` accepts any age.
    package var tokenLifetime: Duration?
    /// Whether a token is limited to one license.
    package var tokensAreSingleUse = false

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            .certificate("/certificate/{client}"), .license("/license"), .license("/license/{content}"),
            .license("/v2/license/{content}"),
        ]
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        guard client.map({ $0 == call.path["client"] }) ?? true else {
            throw .unknownTenant("There is no such client.")
        }
        return .octets(certificate)
    }

    /// Reads and checks a token.
    /// - Returns: the token, and when it ends.
    package func token(
        _ text: String, _ call: some VendorRequest
    ) throws(LicenseRefusal) -> (token: VuDRMToken, expires: Date?) {
        let token = try VuDRMToken(text)
        if token.hasSwappedDate { call.warn("tokenDate", "the token's generation time has day and month swapped") }
        if let secret {
            guard token.client == client, token.isSigned(with: secret) else { throw .tokenRefused }
        }
        let end = try Self.expiry(of: token.generated, "generation time", tokenLifetime, by: Self.tokenAge, call)
        return (token, end)
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let form = try VuDRMForm(call)
        let (token, expires) = try self.token(form.token, call)
        guard token.covers(form.contentID) else {
            throw .notCovered("The token's policy is for other content than “\(form.contentID)”.")
        }
        var grant = VendorGrant(tokenID: Self.digest(of: form.token))
        (grant.issued, grant.expires) = (token.generated, expires)
        grant.account = token.policy?["user_id"]?.text
        grant.session = token.policy?["session_id"]?.text
        grant.terms = token.terms
        grant.begin = try Self.date("polbegin", token.policy)
        grant.end = try Self.date("polend", token.policy)
        grant.countries = token.policy?["geo_whitelist"]?.countries
        grant.refusesAnonymizers = token.policy?["block_vpn_and_tor"]?.flag == true
        grant.use = tokensAreSingleUse ? .license : .any
        return LicenseQuestion(
            spc: form.spc, key: .named(form.contentID) { $0.text.map(VuDRMForm.contentID(inIdentifier:)) },
            grant: grant, isStored: token.terms?.isPersistable == true)
    }

    static let contentID = VendorRule(
        "contentID", .malformedRequest, "V1", "A content id has letters, digits, `_` and `-` only.")
    private static let tokenAge = VendorRule(
        "tokenAge", .tokenExpired, "V1", "A token lives about 30 seconds in production.")
    private static let tokenOnce = VendorRule(
        "tokenOnce", .tokenUsed, "V1", "One token answers one license request.")
    package static let rules = [tokenOnce, tokenAge, contentID]

    private static func date(_ name: String, _ policy: JSONValue?) throws(LicenseRefusal) -> Date? {
        guard let value = policy?[name] else { return nil }
        guard let date = value.text.flatMap(UTCTimestamp.date) else {
            throw .tokenMalformed("The policy's “\(name)” is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        return date
    }
}

extension JSONValue {
    /// Countries in a list, or in a comma-separated text.
    fileprivate var countries: Set<String>? {
        let names = texts ?? text?.split(separator: ",").map(String.init)
        return names.map { Set($0.map { $0.trimmingCharacters(in: .whitespaces).uppercased() }) }
    }
}
