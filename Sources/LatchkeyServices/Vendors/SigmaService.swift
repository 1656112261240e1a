import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Sigma Multi-DRM: the SPC in JSON or in a form, the viewer in the header `custom-data`, the license in JSON.
///
/// Source: docs.sigmadrm.com/multi-safari.html, docs.sigmadrm.com/autho-callback.html and the vendor's SDK for iOS and tvOS,
/// read on 22 November 2026.
package struct SigmaService: VendorService {
    package let identifier: ServiceIdentifier = "sigma"
    package let environment: ServiceEnvironment
    /// The merchant that the service knows. Defaults to `nil`: any.
    package var merchant: String?
    /// The merchant's app that the service knows. Defaults to `nil`: any.
    package var app: String?
    /// The session that the merchant's callback allows. Defaults to `nil`: any.
    package var session: Secret?

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: ["custom-data"]) }

    package var routes: [ServiceRoute] {
        [.certificate("/app/fairplay/{merchant}/{app}", certificate), .license("/license/verify/fairplay", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/license/verify/fairplay?assetId=\(key.id)&keyId=\(key.id)"
    }

    package func parameters(at base: String) -> [String: String] {
        let (merchant, app) = (merchant ?? "merchant", app ?? "app")
        return addresses(at: base).merging([
            "certificateURL": "\(base)/app/fairplay/\(merchant)/\(app)", "merchantId": merchant, "appId": app,
            "userId": "viewer-1",
        ]) { $1 }
    }

    package func demoToken() -> Secret { session ?? Secret("latchkey-demo-session") }
}

extension SigmaService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try check(merchant: call.path["merchant"], app: call.path["app"])
        return try call.certificateFile()
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkCustomer(call)
        let (spc, asset, key) = try body(call)
        guard let asset = asset ?? call.request.queryValue("assetId"), !asset.isEmpty else {
            throw .malformed("There is no “assetId”.")
        }
        let keys = environment.keys
        // The SPC names the asset, which may have several keys; the request's “keyId” chooses.
        let name = key ?? call.request.queryValue("keyId") ?? asset
        let requested = RequestedKey.named(name) { $0.text == asset ? nil : keys.name(in: $0) }
        let license = try await call.license(for: LicenseQuestion(spc: spc, key: requested))
        var members: [String: JSONValue] = ["license": .text(call.ckc(of: license).base64EncodedString())]
        if let lease = license.terms.lease { members["expireTime"] = .number(lease.inSeconds) }
        return .json(members)
    }

    /// SPC, asset and key: JSON as on the page, or a form as from the SDK.
    private func body(_ call: ServiceCall) throws(LicenseRefusal) -> (spc: Data, asset: String?, key: String?) {
        if call.request.headers.mediaType == "application/x-www-form-urlencoded" {
            let form = try call.form()
            return (try call.spc(in: form), form["assetId"], form["keyId"])
        }
        let body = try call.json()
        let asset = body["assetId"]?.text
        return (try call.spc(in: body), asset?.removingPercentEncoding ?? asset, body["keyId"]?.text)
    }

    /// The header is JSON with all of `userId`, `sessionId`, `merchantId` and `appId`.
    private func checkCustomer(_ call: ServiceCall) throws(LicenseRefusal) {
        let text = try call.token(inHeader: "custom-data")
        guard let json = Data(lenientBase64: text).flatMap({ JSONValue($0) }) else {
            throw .tokenMalformed("“custom-data” is not JSON in base64.")
        }
        func member(_ name: String) throws(LicenseRefusal) -> String {
            guard let value = json[name]?.text, !value.isEmpty else {
                throw .tokenMalformed("“custom-data” has no “\(name)”.")
            }
            return value
        }
        _ = try member("userId")
        let session = try member("sessionId")
        try check(merchant: try member("merchantId"), app: try member("appId"))
        guard self.session.map({ $0 == Secret(session) }) ?? true else {
            throw .notCovered("The merchant's callback does not allow the session.")
        }
    }

    private func check(merchant: String, app: String) throws(LicenseRefusal) {
        guard self.merchant.map({ $0 == merchant }) ?? true, self.app.map({ $0 == app }) ?? true else {
            throw .unknownTenant("There is no app “\(app.prefix(80))” of a merchant “\(merchant.prefix(80))”.")
        }
    }
}
