import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Conax: raw license requests for key URIs in base64.
///
/// Source: `Documentation/Vendors/Conax.md`.
package struct ConaxService: VendorService {
    package let identifier: ServiceIdentifier = "conax"
    package let environment: ServiceEnvironment
    /// How the CKC is written. Clients accept any form. Defaults to raw.
    package var ckc = CKCEnvelope.raw

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    // Both addresses are configured; the vendor publishes no paths.
    package var routes: [ServiceRoute] {
        [.certificate("/conax-fairplay/certificate"), .license("/conax-fairplay/license", license)]
    }

    /// Clients decode the base64 of the key URI. Its text or its bytes are the content identifier.
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        .ckc(try await call.ckc(for: LicenseQuestion(spc: try call.rawSPC(), key: .namedInSPC)), in: ckc)
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(Data(key.id.description.utf8).base64EncodedString())"
    }
}
