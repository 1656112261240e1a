package import LatchkeyDecision
package import LatchkeyHTTP

/// Conax's wire, without a token. Clients decode the base64 of the key URI: its text or its bytes are the content identifier.
///
/// Source: `Documentation/Vendors/Conax.md`.
package struct ConaxAPI: VendorAPI {
    package static let name: VendorAPIName = "conax"
    /// How the CKC is written. Clients accept any form. Defaults to raw.
    package var ckc = CKCEnvelope.raw

    package init() {}

    // Both addresses are configured; the vendor publishes no paths.
    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/conax-fairplay/certificate"), .license("/conax-fairplay/license")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        LicenseQuestion(spc: try call.rawSPC(), key: .namedInSPC, token: nil)
    }

}
