package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// Sigma Multi-DRM's wire: the SPC in JSON or in a form, the viewer in the header `custom-data`, whose `sessionId` is the token, the
/// license in JSON.
///
/// Source: `Documentation/Vendors/Sigma.md`.
package struct SigmaAPI: VendorAPI {
    package static let name: VendorAPIName = "sigma"
    package static let tokenFields: [HTTPHeaderName] = ["custom-data"]
    /// The merchant that requests have to name; `nil` accepts any.
    package var merchant: String?
    /// The merchant's app that requests have to name; `nil` accepts any.
    package var app: String?

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/app/fairplay/{merchant}/{app}"), .license("/license/verify/fairplay")]
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let session = try session(call)
        let (spc, asset, key) = try body(call)
        guard let asset = asset ?? call.request.queryValue("assetId"), !asset.isEmpty else {
            throw .malformed("There is no “assetId”.")
        }
        // The SPC names the asset, which may have several keys; the request's “keyId” chooses.
        let requested = RequestedKey(
            name: key ?? call.request.queryValue("keyId") ?? asset,
            inSPC: { $0.text == asset ? nil : $0.text.map(RequestedKey.part) }, content: { _ in asset })
        return LicenseQuestion(spc: spc, key: requested, token: session)
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        try check(merchant: call.path["merchant"], app: call.path["app"])
        return .octets(certificate)
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        var members: [String: JSONValue] = ["license": .text(ckc.base64EncodedString())]
        if let lease = terms.lease { members["expireTime"] = .number(lease.inSeconds) }
        return .json(members)
    }

    /// SPC, asset and key: JSON as on the page, or a form as from the SDK.
    private func body(
        _ call: some VendorRequest
    ) throws(LicenseRefusal) -> (spc: Data, asset: String?, key: String?) {
        if call.request.headers.mediaType == "application/x-www-form-urlencoded" {
            let form = try call.form()
            return (try call.spc(in: form), form["assetId"], form["keyId"])
        }
        let body = try call.json()
        let asset = body["assetId"]?.text
        return (try call.spc(in: body), asset?.removingPercentEncoding ?? asset, body["keyId"]?.text)
    }

    /// The session of the header, which is JSON with all of `userId`, `sessionId`, `merchantId` and `appId`.
    private func session(_ call: some VendorRequest) throws(LicenseRefusal) -> String {
        let text = try call.token(inHeader: Self.tokenFields[0])
        guard let json = Data(lenientBase64: text).flatMap({ JSONValue($0) }) else {
            throw .tokenMalformed("“custom-data” is not JSON in base64.")
        }
        for name in ["userId", "sessionId", "merchantId", "appId"] where json[name]?.text?.isEmpty != false {
            throw .tokenMalformed("“custom-data” has no “\(name)”.")
        }
        try check(merchant: json["merchantId"]?.text, app: json["appId"]?.text)
        return json["sessionId"]?.text ?? ""
    }

    private func check(merchant: String?, app: String?) throws(LicenseRefusal) {
        let (merchant, app) = (merchant ?? "", app ?? "")
        guard merchant == self.merchant ?? merchant, app == self.app ?? app else {
            throw .unknownTenant("There is no app “\(app.prefix(80))” of a merchant “\(merchant.prefix(80))”.")
        }
    }
}
