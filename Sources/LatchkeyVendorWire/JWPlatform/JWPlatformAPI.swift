import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// JW Platform's wire after the delivery document: certificate, and raw licenses from an address that carries the token in its query.
///
/// The content identifier is a constant. So the address names the key, by the query item `content`, which is our choice, because the
/// vendor's addresses are opaque. A key's identifier in the SPC takes precedence, for media with several keys.
///
/// Source: `Documentation/Vendors/JWPlatform.md`.
package struct JWPlatformAPI: VendorAPI {
    package static let name: VendorAPIName = "jw-platform"

    package static let addressAge = VendorRule(
        "addressAge", .tokenExpired, "JW3",
        "The addresses live for a short time; the JSON is fetched for each playback.")
    package static let rules = [addressAge]

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        // Clients take both addresses from the delivery document; the vendor publishes no paths.
        [.certificate("/fairplay/application-certificate"), .license("/fairplay/process-spc")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let content = call.request.queryValue("content")
        let key = RequestedKey.namedInSPC { identifier in
            identifier.text.flatMap(RequestedKey.kid) ?? content ?? identifier.text
        }
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: call.request.queryValue("token"))
    }
}
