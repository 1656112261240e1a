import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// The wire of ExpressPlay (Adobe Primetime Cloud DRM): raw licenses by token URL, and an on-premise license server, which needs no token.
///
/// The vendor's tokens name the key. With another's token, the URL's `cid` does, or else the SPC's content identifier.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`.
package struct ExpressPlayAPI: VendorAPI {
    package static let name: VendorAPIName = "expressplay"
    /// The path of the on-premise license server. Deployment specific.
    package static let onPremise: PathPattern = "/on-premise/license"

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            // Apps bundle the certificate or configure their own file; the vendor has no path.
            .certificate("/expressplay/fairplay.cer"), .license("/hms/fp/rights/"), .license(Self.onPremise),
        ]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let token = call.request.queryValue("ExpressPlayToken")
        let name: RequestedKey.Rule = { identifier in
            guard let text = identifier.text else { return nil }
            let uri = KeyURI(text.contains("?") || !text.hasPrefix("cid=") ? text : "?\(text)")
            return uri.queryValue("cid") ?? text
        }
        var key = RequestedKey.namedInSPC(name)
        if let content = call.request.queryValue("cid") {
            // With a token URL the app may put any content identifier into the SPC.
            key = .named(content) { token == nil ? name($0) : nil }
        }
        return LicenseQuestion(spc: try call.rawSPC(), key: key, token: token)
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        reply(to: refusal, of: call, isOfLicense: true)
    }

    /// The reply with a refusal of a license, or else of the token service.
    package func reply(
        to refusal: LicenseRefusal, of call: some VendorRequest, isOfLicense: Bool
    ) -> HTTPResponse {
        let error = ExpressPlayError(refusal, isOfLicense: isOfLicense)
        guard call.request.queryValue("errorFormat")?.lowercased() == "json" else {
            // Repeats nothing of the request.
            let page = "<html><body><p>Error \(error.code)</p></body></html>"
            return HTTPResponse(status: error.status, contentType: "text/html", bytes: Data(page.utf8))
        }
        return .json(
            ["errorCode": .number(Double(error.code)), "errorMessage": .text(refusal.reason)], status: error.status)
    }

    package static let cookieLength = VendorRule(
        "cookieLength", .vendor(code: "-2033", status: 400), "EP2", "`customerCookie` has up to 32 characters.")
    package static let cookie = VendorRule(
        "cookie", .vendor(code: "-2033", status: 400), "EP2", "`requestType` 2 and 3 need the `customerCookie`.")
    package static let boundDevice = VendorRule(
        "boundDevice", .vendor(code: "-4001", status: 401), "EP2, EP5",
        "A token of type 3 is for the device that was registered.")
    package static let tokenExpiry = VendorRule(
        "tokenExpiry", .vendor(code: "-2002", status: 400), "EP1", "`expirationTime` is at most 30 days ahead.")
    package static let rules = [cookieLength, cookie, boundDevice, tokenExpiry]
}
