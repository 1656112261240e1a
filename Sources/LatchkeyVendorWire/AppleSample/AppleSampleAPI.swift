package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// The convention of Apple's sample key server: a form, and no token. Source: `Documentation/Vendors/AppleSample.md`.
package struct AppleSampleAPI: VendorAPI {
    package static let name: VendorAPIName = "apple-sample"
    /// How the CKC is written. Defaults to tags on separate lines.
    package var ckc = CKCEnvelope.tagged

    package init() {}

    // The sample's clients have both addresses in their settings.
    package var routes: [Route<VendorEndpoint>] { [.certificate("/ksm/certificate.cer"), .license("/ksm")] }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let form = try call.form()
        let spc = try call.spc(in: form)
        return LicenseQuestion(spc: spc, key: .anyPart(of: try form.required("assetId")), token: nil)
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        let response = HTTPResponse.ckc(ckc, in: self.ckc)
        guard self.ckc == .tagged, let tagged = response.bytes else { return response }
        return .text("\n\(String(decoding: tagged, as: UTF8.self))\n")
    }
}
