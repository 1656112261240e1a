import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// The wire of Azure Media Services, whose license URL names the key. Source: `Documentation/Vendors/Azure.md`.
package struct AzureAPI: VendorAPI {
    package static let name: VendorAPIName = "azure"
    /// How the CKC is written. Defaults to tags.
    package var ckc = CKCEnvelope.tagged

    package init() {}

    // The certificate is the customer's own file, for which the vendor has no path. Some clients send their token with the request; it is
    // ignored.
    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/certificates/fairplay.cer"), .license("/FairPlay/")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let id = try keyID(call)
        let token = try call.bearerToken()
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        if let named = Self.keyID(inIdentifier: asset), KeyID(named) != id {
            throw .malformed("“kid” of the URL and “assetId” name different keys.")
        }
        let key = RequestedKey.named(id.description) { identifier in
            if identifier.text != asset { call.warn("assetId", "“assetId” is not the SPC's content identifier") }
            return identifier.text.flatMap { Self.keyID(inIdentifier: $0) }
        }
        return LicenseQuestion(spc: spc, key: key, token: token)
    }

    /// The key by the URL's `kid`, whatever the form says.
    private func keyID(_ call: some VendorRequest) throws(LicenseRefusal) -> KeyID {
        guard let text = call.request.queryValue("kid") else { throw .malformed("There is no “kid”.") }
        guard let id = KeyID(text) else { throw .malformed("“kid” is not a GUID.") }
        return id
    }

    /// The key that a content identifier names: `kid=…` or a URI with it. Others, such as the host, name none.
    private static func keyID(inIdentifier text: String) -> String? {
        KeyURI(text.contains("?") ? text : "?\(text)").queryValue("kid")
    }
}
