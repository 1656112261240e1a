import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// NAVER Cloud's One Click Multi DRM behind its API gateway, with a token that names site, content and viewer.
///
/// Source: api.ncloud-docs.com: one-click-multi-drm-api-overview, fairplay-streaming-license-request, license-client-bind,
/// one-click-multi-drm-error-code, of 17 September 2026; read on 2026-11-27.
package struct NAVERService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The site that the service knows. Defaults to `nil`: any.
    package var siteID: String?
    /// The content of the service's keys. Defaults to `latchkey-demo`.
    package var contentID = "latchkey-demo"
    /// The access key of the gateway's fields. Defaults to `nil`: any or none.
    package var accessKey: String?
    /// The secret that signs the gateway's fields. Defaults to `nil`: any signature or none.
    package var secretKey: Secret?
    package let api = NAVERAPI()

    private var site: String { siteID ?? "latchkey-site" }

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(headers: ["X-DRM-TOKEN", "x-ncp-iam-access-key", "x-ncp-apigw-signature-v2"])
    }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging(["siteId": site, "contentId": contentID, "userId": "viewer-1"]) { $1 }
    }

    package func demoToken() -> Secret { token() }

    /// A token for the service's content.
    /// - Parameter members: replace the usual ones.
    package func token(_ members: [String: String] = [:]) -> Secret {
        let usual = [
            "siteId": site, "contentId": contentID, "drmType": "FAIRPLAY", "responseFormat": "ORIGINAL",
            "userId": "viewer-1",
        ]
        let json = usual.merging(members) { $1 }.mapValues { JSONValue.text($0) }
        return Secret((HTTPResponse.json(json).bytes ?? Data()).base64EncodedString())
    }

    /// The entries of the list that concern licenses.
    package var documentedRefusals: [DocumentedRefusal] {
        let endpoints: Set<ServiceEndpoint> = [.license, .certificate]
        return DocumentedRefusal.all(500, at: endpoints, "280000 280002")
            + DocumentedRefusal.all(400, at: endpoints, "280001 280003 281003 281004 281005 2810011 2810012")
    }

    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try check(call.request.headers[NAVERAPI.tokenFields[0]], call)
        guard environment.authority.certificate != nil else {
            throw LicenseRefusal(
                .vendor(code: "2810011", status: 400), reason: "The site's FairPlay certificate is not complete.")
        }
        return try api.certificate(try call.certificate(), for: call)
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        try check(token, call)
        return question.grant
    }
}

extension NAVERService {
    /// All members are required. The content identifier is 3 to 100 letters, digits, `-` and `_`.
    private func check(_ token: String?, _ call: ServiceCall) throws(LicenseRefusal) {
        try checkGateway(call)
        guard let text = token, !text.isEmpty else { throw .tokenMissing("the header X-DRM-TOKEN") }
        guard let json = Data(lenientBase64: text).flatMap({ JSONValue($0) }) else {
            throw .tokenMalformed("X-DRM-TOKEN is not JSON in base64.")
        }
        for name in ["siteId", "contentId", "drmType", "userId"] where json[name]?.text?.isEmpty != false {
            throw .tokenMalformed("X-DRM-TOKEN has no “\(name)”.")
        }
        guard json["drmType"]?.text == "FAIRPLAY" else { throw .tokenMalformed("The “drmType” is not FAIRPLAY.") }
        let content = json["contentId"]?.text ?? ""
        if content.count < 3 || !content.isMadeOfLettersDigits(and: "-_", limit: 100) {
            try call.breach(of: NAVERAPI.contentID, "The “contentId” is not 3 to 100 letters, digits, - and _.")
        }
        guard siteID.map({ $0 == json["siteId"]?.text }) ?? true else { throw .unknownTenant("There is no such site.") }
        guard content == contentID else { throw .notCovered("The token is for other content.") }
        if json["responseFormat"]?.text?.uppercased() == "JSON" {
            call.warn("responseFormat", "the format JSON is not emulated; the reply is ORIGINAL")
        }
    }

    /// The gateway before the service requires all of its fields. A player behind the customer's own server sends none.
    private func checkGateway(_ call: ServiceCall) throws(LicenseRefusal) {
        let headers = call.request.headers
        let region = headers["x-ncp-region_code"]
        if region != "KR", region != nil || headers["x-ncp-apigw-timestamp"] != nil {
            try call.breach(
                of: NAVERAPI.region,
                region == nil ? "There is no x-ncp-region_code." : "The x-ncp-region_code is not KR.")
        }
        guard let text = headers["x-ncp-apigw-timestamp"] else {
            guard secretKey == nil else { throw Self.unauthenticated("There is no x-ncp-apigw-timestamp.") }
            return call.warn("gatewayFields", "the gateway's fields are missing; the vendor's page requires them")
        }
        let now = environment.time.date.timeIntervalSince1970
        if Double(text).map({ abs(now - $0 / 1_000) <= 300 }) != true {
            try call.breach(of: NAVERAPI.gatewayTime, "The x-ncp-apigw-timestamp is more than 5 minutes off.")
        }
        let key = headers["x-ncp-iam-access-key"] ?? ""
        guard !key.isEmpty, accessKey.map({ $0 == key }) ?? true else {
            throw Self.unauthenticated("The x-ncp-iam-access-key is not known.")
        }
        guard let secretKey else { return }
        let line = "\(call.request.method.rawValue) \(call.request.path)\n\(text)\n\(key)"
        let signature = secretKey.withUnsafeBytes { bytes in
            (try? MessageDigest.hmacSHA256(key: bytes, Array(line.utf8))).map { Data($0).base64EncodedString() }
        }
        guard let signature, Secret(signature) == Secret(headers["x-ncp-apigw-signature-v2"] ?? "") else {
            throw Self.unauthenticated("The x-ncp-apigw-signature-v2 is not that of the request.")
        }
    }

    private static func unauthenticated(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.vendor(code: "200", status: 401), reason: reason, remedy: "Sign the gateway's fields again.")
    }
}
