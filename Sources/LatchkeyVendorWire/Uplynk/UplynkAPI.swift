package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Uplynk's wire. The license URL is the key URI with another scheme, and holds the credentials, which only Uplynk can read.
///
/// Source: `Documentation/Vendors/Uplynk.md`.
package struct UplynkAPI: VendorAPI {
    package static let name: VendorAPIName = "uplynk"
    package let ckc = CKCEnvelope.json
    /// The owner in the certificate's path; `nil` accepts any.
    package var owner: String?

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            .certificate("/fairplay/public_key/\(owner ?? "{owner}").cer"),
            // The vendor publishes no path for licenses; clients take it from the key URI.
            .license("/fairplay/ksm"),
        ]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let asset = try asset(call)
        let body = try call.json()
        let spc = try call.spc(in: body)
        if let stated = body["assetId"]?.text, stated != asset {
            throw .malformed("“assetId” is not the asset of the URL.")
        }
        return LicenseQuestion(spc: spc, key: .named(asset), token: nil)
    }

    /// The query's `b`, otherwise its first item, as the vendor's own samples read it.
    private func asset(_ call: some VendorRequest) throws(LicenseRefusal) -> String {
        if let asset = call.request.queryValue("b"), !asset.isEmpty { return asset }
        guard let first = call.request.queryItems.first?.value, !first.isEmpty else {
            throw .malformed("The query names no asset.")
        }
        call.warn("assetItem", "the asset is in a query item other than “b”")
        return first
    }
}
