import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
package import LatchkeyVendorWire

/// Gumlet: license requests as JSON with the SPC in URL-safe base64.
///
/// Source: `Documentation/Vendors/Gumlet.md`.
package struct GumletService: VendorService {
    package let identifier: ServiceIdentifier = "gumlet"
    package let environment: ServiceEnvironment
    /// How the CKC is written. Clients accept any form. Defaults to JSON.
    package var ckc = CKCEnvelope.json

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    // The vendor publishes no paths.
    package var routes: [ServiceRoute] {
        [.certificate("/gumlet-fairplay/certificate"), .license("/gumlet-fairplay/license", license)]
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let text = try call.json().required("spc")
        if text.contains("+") || text.contains("/") {
            call.warn("base64", "“spc” is not in the URL-safe alphabet")
        }
        guard let spc = Data(lenientBase64: text) else { throw .malformed("“spc” is not base64.") }
        return .ckc(try await call.ckc(for: LicenseQuestion(spc: spc, key: .namedInSPC)), in: ckc)
    }
}
