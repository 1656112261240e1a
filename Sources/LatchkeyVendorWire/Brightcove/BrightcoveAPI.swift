package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Brightcove's wire: raw licenses for JSON requests. The token is in the header field `bcov-auth`, as in public clients of restricted
/// accounts.
///
/// Source: `Documentation/Vendors/Brightcove.md`.
package struct BrightcoveAPI: VendorAPI {
    package static let name: VendorAPIName = "brightcove"
    package static let tokenFields: [HTTPHeaderName] = ["bcov-auth"]
    /// The publisher that requests have to name; `nil` accepts any or none.
    package var publisherID: String?
    /// The application that requests have to name; `nil` accepts any or none.
    package var applicationID: String?
    /// The status of a license: 200, the default, or 201.
    package var licenseStatus = 200

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            // The catalog states the certificate's URL; the path in recorded catalogs ends in the account.
            .certificate("/fairplay_application_certificate"),
            .certificate("/license/v1/fairplay_app_cert/{account...}"),
            .license("/fairplay_session_playback"),
        ]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let body = try call.json()
        try check("publisher_id", publisherID, in: body, call)
        try check("application_id", applicationID, in: body, call)
        let name = try body.required("key_id")
        let spc = try call.spc(in: body, "server_playback_context")
        // The content of the vendor's SPCs is not public. It counts if it has a key's identifier.
        let key = RequestedKey.named(name) { $0.text.flatMap(RequestedKey.kid) }
        return LicenseQuestion(
            spc: spc, key: key, token: call.request.headers[Self.tokenFields[0]], isStored: try isStored(call))
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        var response = HTTPResponse.octets(ckc)
        response.status = licenseStatus
        return response
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
        BrightcoveError(refusal).reply(refusal.reason)
    }

    /// Whether the app stores the key. It then states the rights.
    private func isStored(_ call: some VendorRequest) throws(LicenseRefusal) -> Bool {
        guard call.request.headers["x-bolt-offline-license"] == "true" else { return false }
        guard let rights = call.request.headers["x-bc-crt-config"] else {
            throw .malformed("A stored key needs the header x-bc-crt-config.")
        }
        guard case .object = JSONValue(try call.base64(rights, in: "x-bc-crt-config")) else {
            throw .malformed("The header x-bc-crt-config is not base64 of a JSON object.")
        }
        return true
    }

    private static let emptyField = VendorRule(
        "emptyField", .malformedRequest, "BC1", "An ID that is unknown is an empty text.", passesHere: true)
    package static let rules = [emptyField]

    /// Clients that do not know a name leave it empty instead of omitting it.
    private func check(
        _ field: String, _ wanted: String?, in body: JSONValue, _ call: some VendorRequest
    ) throws(LicenseRefusal) {
        if body[field]?.text == nil {
            try call.breach(of: Self.emptyField, "“\(field)” is missing; unknown, it is an empty text.")
        }
        guard wanted.map({ $0 == body[field]?.text }) ?? true else {
            throw .unknownTenant("“\(field)” is not the configured one.")
        }
    }
}
