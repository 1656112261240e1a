import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP

/// Titanium DRM's wire, for a token or a registered device. Source: `Documentation/Vendors/Titanium.md`.
package struct TitaniumAPI: VendorAPI {
    package static let name: VendorAPIName = "titanium"
    package static let tokenFields = [deviceData]
    /// The header field that describes account and device, in place of a token.
    package static let deviceData: HTTPHeaderName = "X-TITANIUM-DRM-CDATA"

    package static let registration = VendorRule(
        "registration", .tokenMalformed, "T1", "The device's data name customer, account and portal.")
    package static let deviceType = VendorRule(
        "deviceType", .tokenMalformed, "T1", "The device's data have `DeviceType`, not the sample's `varDeviceType`.")
    package static let rules = [registration, deviceType]

    package init() {}

    // The vendor publishes no paths; each operator configures them.
    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/titanium/certificate.cer"), .license("/titanium/license")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        // The text after the last slash, or the whole without one.
        let key = RequestedKey.namedInSPC { $0.text.flatMap { $0.split(separator: "/").last.map(String.init) } }
        let token = try call.bearerToken()
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: token)
    }
}
