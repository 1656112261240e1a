package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Anvato's wire: licenses as JSON, and errors with a DRM code in their message. Players send no token.
///
/// Source: `Documentation/Vendors/Anvato.md`.
package struct AnvatoAPI: VendorAPI {
    package static let name: VendorAPIName = "anvato"
    package let ckc = CKCEnvelope.json

    package init() {}

    // The vendor publishes no paths.
    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/rest/fairplay/certificate"), .license("/rest/fairplay/license")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let body = try call.json()
        let spc = try call.spc(in: body)
        return LicenseQuestion(spc: spc, key: .anyPart(of: try body.required("assetid")), token: nil)
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        // No DRM code is public. A fault may name one; otherwise the status is used.
        var drmCode = "\(refusal.status)"
        if case .vendor(let code, _) = refusal.kind { drmCode = code }
        let error: [String: JSONValue] = [
            "code": .number(Double(refusal.status)), "status": .text(Self.name(of: refusal.status)),
            "message": .text("\(refusal.reason) drmErrorCode: \(drmCode) "),
        ]
        return .json(["error": .object(error)], status: refusal.status)
    }

    /// The names of statuses in Google's services, whose error shape this is.
    private static func name(of status: Int) -> String {
        switch status {
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 500...: "UNAVAILABLE"
        default: "INVALID_ARGUMENT"
        }
    }
}
