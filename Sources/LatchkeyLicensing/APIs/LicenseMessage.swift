import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyPackaging
import LatchkeyVendorWire

/// A license request in the native API's two forms: an SPC as it is, or JSON.
///
/// JSON has `spc` in base64, and may have `token`, `purpose`, `keyURI` and `stop`, a list of stop codes. Otherwise headers have them.
///
/// Source: `Documentation/LicenseServer.md` §1.
struct LicenseMessage {
    let request: LicenseIssuer.Request
    private let isJSON: Bool

    init(_ call: APICall) throws(LicenseRefusal) {
        var viewer = call.viewer
        let headers = call.request.headers
        isJSON = headers.mediaType == "application/json"
        var (spc, token) = (call.request.body, call.bearerToken)
        var purpose = headers[.purpose]
        var keyURI = headers[.keyURI]
        var codes = headers[.terminate]?.split(separator: ",").map { String($0).trimmingCharacters(in: .whitespaces) }
        if isJSON {
            guard let body = JSONValue(call.request.body), case .object = body else {
                throw .malformed("The body is not a JSON object.")
            }
            guard let text = body["spc"]?.text, let bytes = Data(lenientBase64: text) else {
                throw .malformed("The member “spc” is missing, or not base64.")
            }
            spc = bytes
            token = body["token"]?.text ?? token
            purpose = body["purpose"]?.text ?? purpose
            keyURI = body["keyURI"]?.text ?? keyURI
            codes = body["stop"]?.texts ?? codes
        }
        if let purpose {
            guard let stated = LicenseRequestFacts.Purpose(rawValue: purpose) else {
                throw .malformed("The purpose is not stream, download or renewStored.")
            }
            viewer.purpose = stated
        }
        viewer.stopCodes = Set((codes ?? []).prefix(100))
        request = LicenseIssuer.Request(spc: spc, token: token, viewer: viewer, keyURI: keyURI)
    }

    func reply(_ license: LicenseIssuer.License) -> HTTPResponse {
        isJSON ? .json(.object(members(license))) : raw(license)
    }

    private func members(_ license: LicenseIssuer.License) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["ckc": .text(license.ckc.revealed.base64EncodedString())]
        members["lease"] = license.terms.lease.map { .number($0.inSeconds.rounded(.down)) }
        members["renewAfter"] = license.renewAfter.map { .number($0.inSeconds) }
        members["heartbeatToken"] = license.heartbeatToken.map { .text($0) }
        members["heartbeat"] = license.heartbeat.map { .number($0.inSeconds) }
        return members
    }

    private func raw(_ license: LicenseIssuer.License) -> HTTPResponse {
        var response = HTTPResponse(contentType: "application/octet-stream", bytes: license.ckc.revealed)
        response.headers[.cacheControl] = "no-store"
        response.tell(
            renewAfter: license.renewAfter, heartbeatToken: license.heartbeatToken, heartbeat: license.heartbeat)
        return response
    }
}
