package import Foundation
package import LatchkeyDecision
package import LatchkeyHTTP

/// The wire of NAVER Cloud's One Click Multi DRM: certificate and licenses for a token in the header `X-DRM-TOKEN`.
///
/// Details that the readable pages leave open are inferred: the body is the form of DoveRunner, whose proxy the service is, JSON or the
/// SPC's bytes; every reply is in the format ORIGINAL; the certificate of `/fairPlay` is base64 text; the statuses, which the list of codes
/// omits.
///
/// Source: `Documentation/Vendors/Naver.md`.
package struct NAVERAPI: VendorAPI {
    package static let name: VendorAPIName = "naver"
    package static let tokenFields: [HTTPHeaderName] = ["X-DRM-TOKEN"]
    package static let otherFields: [HTTPHeaderName] = [
        "x-ncp-region_code", "x-ncp-iam-access-key", "x-ncp-apigw-timestamp", "x-ncp-apigw-signature-v2",
    ]

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            .certificate("/api/v1/license/fairPlay"), .certificate("/api/v1/license/fairPlayBinary"),
            .license("/api/v1/license"),
        ]
    }

    package static let contentID = VendorRule(
        "contentID", .tokenMalformed, "NC5", "`contentId` has 3 to 100 letters, digits, `-` and `_`.")
    package static let gatewayTime = VendorRule(
        "gatewayTime", .vendor(code: "200", status: 401), "NC2", "`x-ncp-apigw-timestamp` is at most 5 minutes off.")
    package static let region = VendorRule(
        "region", .malformedRequest, "NC2, NC5",
        "`x-ncp-region_code` is required with the gateway's fields, and is `KR`.")
    package static let rules = [contentID, gatewayTime, region]

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let spc =
            switch call.request.headers.mediaType {
            case "application/x-www-form-urlencoded": try call.spc(in: try call.form())
            case "application/json": try call.spc(in: try call.json())
            default: try call.rawSPC()
            }
        return LicenseQuestion(spc: spc, key: .namedInSPC, token: call.request.headers[Self.tokenFields[0]])
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        call.request.path.split(separator: "/").last == "fairPlayBinary"
            ? .octets(certificate) : .text(certificate.base64EncodedString())
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        NAVERError(refusal).reply(refusal.reason)
    }
}
