import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Brightcove Video Cloud: raw licenses for JSON requests.
///
/// Source: `Documentation/Vendors/Brightcove.md`.
package struct BrightcoveService: VendorService {
    package let identifier: ServiceIdentifier = "brightcove"
    package let environment: ServiceEnvironment
    /// The publisher that the service accepts. Defaults to `nil`: any or none.
    package var publisherID: String?
    /// The application that the service accepts. Defaults to `nil`: any or none.
    package var applicationID: String?
    /// The header field of the token. Defaults to `bcov-auth`, as in public clients of restricted accounts.
    package var tokenHeader: HTTPHeaderName = "bcov-auth"
    /// The token that the service accepts. Defaults to `nil`: none is needed.
    package var token: Secret?
    /// The status of a license: 200, the default, or 201.
    package var licenseStatus = 200

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(headers: [tokenHeader.rawValue], fields: ["server_playback_context"])
    }

    package var routes: [ServiceRoute] {
        [
            // The catalog states the certificate's URL; the path in recorded catalogs ends in the account.
            .certificate("/fairplay_application_certificate"),
            .certificate("/license/v1/fairplay_app_cert/{account...}"),
            .license("/fairplay_session_playback", license),
        ]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(host)/\(identifier)/\(key.id)" }

    package func parameters(at base: String) -> [String: String] {
        let publisher = publisherID ?? "latchkey"
        return addresses(at: base).merging([
            "certificateURL": "\(base)/license/v1/fairplay_app_cert/\(publisher)", "publisherId": publisher,
            "applicationId": applicationID ?? "latchkey-demo",
        ]) { $1 }
    }

    package func demoToken() -> Secret { token ?? Secret("") }

    package var documentedRefusals: [DocumentedRefusal] { BrightcoveError.documented }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        BrightcoveError(refusal).reply(refusal.reason)
    }
}

extension BrightcoveService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkToken(call)
        let body = try call.json()
        try check("publisher_id", publisherID, in: body, call)
        try check("application_id", applicationID, in: body, call)
        let name = try body.required("key_id")
        let spc = try call.spc(in: body, "server_playback_context")
        let keys = environment.keys
        // What the vendor's player writes into the SPC is not public. It counts if it names a key.
        let key = RequestedKey.named(name) { identifier in
            let name = keys.name(in: identifier)
            return keys.hasKey(named: name) ? name : nil
        }
        let question = LicenseQuestion(spc: spc, key: key, terms: try storedTerms(call))
        var response = HTTPResponse.octets(try await call.ckc(for: question))
        response.status = licenseStatus
        return response
    }

    /// The terms of a key that the app stores; `nil` if it does not.
    private func storedTerms(_ call: ServiceCall) throws(LicenseRefusal) -> LicenseTerms? {
        guard call.request.headers["x-bolt-offline-license"] == "true" else { return nil }
        guard let rights = call.request.headers["x-bc-crt-config"] else {
            throw .malformed("A stored key needs the header x-bc-crt-config.")
        }
        guard case .object = JSONValue(try call.base64(rights, in: "x-bc-crt-config")) else {
            throw .malformed("The header x-bc-crt-config is not base64 of a JSON object.")
        }
        return LicenseTerms(.persistent)
    }

    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let token else { return }
        let sent = try call.token(inHeader: tokenHeader)
        guard Secret(sent) == token else {
            throw LicenseRefusal(.tokenSignature, reason: "The token is not the configured one.")
        }
    }

    /// Clients that do not know a name leave it empty, but do not leave it out.
    private func check(
        _ field: String, _ wanted: String?, in body: JSONValue, _ call: ServiceCall
    ) throws(LicenseRefusal) {
        if body[field]?.text == nil { call.warn("missingField", "“\(field)” is missing; unknown, it is an empty text") }
        guard wanted.map({ $0 == body[field]?.text }) ?? true else {
            throw .unknownTenant("“\(field)” is not the configured one.")
        }
    }
}
