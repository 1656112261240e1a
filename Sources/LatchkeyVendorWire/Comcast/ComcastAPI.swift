package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// thePlatform's wire: licenses as nested JSON, for a token and an account in the query.
///
/// Source: `Documentation/Vendors/Comcast.md`.
package struct ComcastAPI: VendorAPI {
    package static let name: VendorAPIName = "comcast"
    /// The account that requests have to name; `nil` accepts any.
    package var account: String?

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        // The vendor publishes no path for the certificate.
        [.certificate("/fpls/web/FairPlay/certificate"), .license("/fpls/web/FairPlay")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        for (name, value) in [("schema", "1.0"), ("form", "json")] where call.request.queryValue(name) != value {
            try call.breach(of: Self.query, "“\(name)” is not “\(value)”.")
        }
        guard let account = call.request.queryValue("account"), !account.isEmpty else {
            throw .malformed("The query has no “account”.")
        }
        guard self.account.map({ $0 == account }) ?? true else {
            throw .unknownTenant("There is no account “\(account.prefix(80))”.")
        }
        guard let body = try call.json()["getFairplayLicense"] else {
            throw .malformed("“getFairplayLicense” is missing.")
        }
        let release = try body.required("releasePid")
        let spc = try call.spc(in: body, "spcMessage")
        let key = RequestedKey.namedInSPC { identifier in
            if !identifier.description.contains(release) {
                call.warn("releasePid", "the SPC's content identifier lacks the release")
            }
            return identifier.text.map(RequestedKey.part)
        }
        return LicenseQuestion(spc: spc, key: key, token: call.request.queryValue("token"))
    }

    private static let query = VendorRule(
        "query", .malformedRequest, "T1", "The license URL has `schema=1.0&form=json`.", passesHere: true)
    package static let rules = [query]

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        .json(["getFairplayLicenseResponse": .object(["ckcResponse": .text(ckc.base64EncodedString())])])
    }
}
