package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyVendorWire

/// VuDRM's wire, for a tenant.
///
/// The vendor makes tokens by a service of its own, and does not publish how. Here the customer's token service makes them: see
/// `VuDRMToken.hash(of:_:)`. The policy may have `user_id` and `session_id`, too.
///
/// Source: `Documentation/Vendors/VuDRM.md`.
package struct VuDRMAPI: VendorAPI {
    package let name = VendorAPIName.vuDRM
    private let settings: VendorAPISettings.VuDRM
    private let secret: Secret

    /// - Parameters:
    ///   - settings: what the configuration states.
    ///   - secret: what tokens are hashed with.
    package init(_ settings: VendorAPISettings.VuDRM, secret: Secret) {
        self.settings = settings
        self.secret = secret
    }

    package var routes: [Route<VendorEndpoint>] {
        [
            VendorEndpoint.certificate("/certificate/{client}"), VendorEndpoint.license("/license"),
            VendorEndpoint.license("/license/{content}"), VendorEndpoint.license("/v2/license/{content}"),
        ]
    }

    package func certificate(
        _ certificate: Data, for call: VendorAPICall
    ) throws(LicenseRefusal) -> HTTPResponse {
        guard call.path["client"] == settings.client else { throw .unknownTenant("There is no such client.") }
        return .octets(certificate)
    }

    package func licenseRequest(_ call: VendorAPICall) throws(LicenseRefusal) -> LicenseIssuer.VendorLicenseRequest {
        let form = try VuDRMForm(call)
        let token = try VuDRMToken(form.token)
        guard token.client == settings.client, token.isSigned(with: secret) else { throw .tokenRefused }
        let expiry = try Self.expiry(of: token.generated, settings.tokenLife, at: call.date)
        guard token.covers(form.contentID) else { throw .notCovered("The token's policy is for other content.") }
        var grant = VendorGrant(tokenID: Self.digest(of: form.token))
        (grant.issued, grant.expires) = (token.generated, expiry)
        grant.account = token.policy?["user_id"]?.text
        grant.session = token.policy?["session_id"]?.text
        grant.terms = token.terms
        grant.begin = try Self.date("polbegin", token.policy)
        grant.end = try Self.date("polend", token.policy)
        grant.countries = token.policy?["geo_whitelist"]?.countries
        grant.refusesAnonymizers = token.policy?["block_vpn_and_tor"]?.flag == true
        grant.use = settings.isSingleUse ? .license : .any
        return LicenseIssuer.VendorLicenseRequest(
            spc: form.spc, viewer: call.viewer(token.terms?.isPersistable == true ? .download : .stream), grant: grant,
            named: KeyName(form.contentID),
            nameInSPC: { $0.text.map(VuDRMForm.contentID(inIdentifier:)).flatMap { KeyName($0) } })
    }

    package func reply(_ license: LicenseIssuer.License) -> HTTPResponse { .octets(license.ckc.revealed) }

    package func reply(to refusal: LicenseRefusal, at endpoint: VendorEndpoint.Kind) -> HTTPResponse { .plain(refusal) }

    private static func date(_ name: String, _ policy: JSONValue?) throws(LicenseRefusal) -> Date? {
        guard let value = policy?[name] else { return nil }
        guard let date = value.text.flatMap(UTCTimestamp.date) else {
            throw .tokenMalformed("The policy's “\(name)” is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        return date
    }
}

extension JSONValue {
    /// Countries in a list, or in a text with commas between them.
    fileprivate var countries: Set<String>? {
        let names = texts ?? text?.split(separator: ",").map(String.init)
        return names.map { Set($0.map { $0.trimmingCharacters(in: .whitespaces).uppercased() }) }
    }
}
