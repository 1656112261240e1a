import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
package import LatchkeyVendorWire

/// The convention of Apple's sample key server: a form with SPC and asset, answered with a CKC as text.
///
/// Source: `Documentation/Vendors/AppleSample.md`.
package struct AppleSampleService: VendorService {
    package let identifier: ServiceIdentifier = "apple-sample"
    package let environment: ServiceEnvironment
    /// How the CKC is written. Defaults to tags on a line of their own.
    package var ckc = CKCEnvelope.tagged

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    // The sample's clients have both addresses in their settings.
    package var routes: [ServiceRoute] { [.certificate("/ksm/certificate.cer"), .license("/ksm", license)] }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let form = try call.form()
        let spc = try call.spc(in: form)
        let key = environment.key(named: try form.required("assetId"))
        let response = HTTPResponse.ckc(try await call.ckc(for: LicenseQuestion(spc: spc, key: key)), in: ckc)
        guard ckc == .tagged, let tagged = response.bytes else { return response }
        return .text("\n\(String(decoding: tagged, as: UTF8.self))\n")
    }
}
