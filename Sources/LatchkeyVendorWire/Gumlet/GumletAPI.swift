import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// Gumlet's wire: license requests as JSON with the SPC in URL-safe base64. Players send no token.
///
/// Source: `Documentation/Vendors/Gumlet.md`.
package struct GumletAPI: VendorAPI {
    package static let name: VendorAPIName = "gumlet"
    /// How the CKC is written. Clients accept any form. Defaults to JSON.
    package var ckc = CKCEnvelope.json

    private static let alphabet = VendorRule(
        "alphabet", .malformedRequest, "SH1", "`spc` is URL-safe base64.", passesHere: true)
    package static let rules = [alphabet]

    package init() {}

    // The vendor publishes no paths.
    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/gumlet-fairplay/certificate"), .license("/gumlet-fairplay/license")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let text = try call.json().required("spc")
        if text.contains("+") || text.contains("/") {
            try call.breach(of: Self.alphabet, "“spc” is not in the URL-safe alphabet.")
        }
        guard let spc = Data(lenientBase64: text) else { throw .malformed("“spc” is not base64.") }
        return LicenseQuestion(spc: spc, key: .namedInSPC, token: nil)
    }
}
