import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyVendorWire

/// NAVER Cloud's One Click Multi DRM: certificate and licenses for a token that names site, content and viewer.
///
/// What the pages that could be read leave open is inferred: the body is the form of DoveRunner, whose proxy the service is, JSON or the
/// SPC's bytes; every reply is in the format ORIGINAL; the certificate of `/fairPlay` is base64 text; the statuses, of which the list of
/// codes says none.
///
/// Source: api.ncloud-docs.com: one-click-multi-drm-api-overview, fairplay-streaming-license-request, license-client-bind,
/// one-click-multi-drm-error-code, of 17 September 2026; read on 2026-11-27.
package struct NAVERService: VendorService {
    package let identifier: ServiceIdentifier = "naver"
    package let environment: ServiceEnvironment
    /// The site that the service knows. Defaults to `nil`: any.
    package var siteID: String?
    /// The content of the service's keys. Defaults to `latchkey-demo`.
    package var contentID = "latchkey-demo"
    /// The access key of the gateway's fields. Defaults to `nil`: any or none.
    package var accessKey: String?
    /// The secret that signs the gateway's fields. Defaults to `nil`: any signature or none.
    package var secretKey: Secret?

    /// The header field of the token.
    static let tokenField: HTTPHeaderName = "X-DRM-TOKEN"

    private var site: String { siteID ?? "latchkey-site" }

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(headers: [Self.tokenField.rawValue, "x-ncp-iam-access-key", "x-ncp-apigw-signature-v2"])
    }

    package var routes: [ServiceRoute] {
        [
            .certificate("/api/v1/license/fairPlay") { call async throws(LicenseRefusal) in
                .text(try certificate(call).base64EncodedString())
            },
            .certificate("/api/v1/license/fairPlayBinary") { call async throws(LicenseRefusal) in
                .octets(try certificate(call))
            },
            .license("/api/v1/license", license),
        ]
    }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging(["siteId": site, "contentId": contentID, "userId": "viewer-1"]) { $1 }
    }

    package func demoToken() -> Secret { token() }

    /// A token for the service's content.
    /// - Parameter members: in place of the usual ones.
    package func token(_ members: [String: String] = [:]) -> Secret {
        let usual = [
            "siteId": site, "contentId": contentID, "drmType": "FAIRPLAY", "responseFormat": "ORIGINAL",
            "userId": "viewer-1",
        ]
        let json = usual.merging(members) { $1 }.mapValues { JSONValue.text($0) }
        return Secret((HTTPResponse.json(json).bytes ?? Data()).base64EncodedString())
    }

    package var documentedRefusals: [DocumentedRefusal] { NAVERError.documented }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        NAVERError(refusal).reply(refusal.reason)
    }
}

extension NAVERService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> Data {
        try checkGateway(call)
        try check(call)
        guard environment.authority.certificate != nil else {
            throw LicenseRefusal(
                .vendor(code: "2810011", status: 400), reason: "The site's FairPlay certificate is not complete.")
        }
        return try call.certificate()
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkGateway(call)
        try check(call)
        let keys = environment.keys
        let key = RequestedKey.namedInSPC { keys.name(in: $0) }
        return .octets(try await call.ckc(for: LicenseQuestion(spc: try spc(call), key: key)))
    }

    private func spc(_ call: ServiceCall) throws(LicenseRefusal) -> Data {
        switch call.request.headers.mediaType {
        case "application/x-www-form-urlencoded": try call.spc(in: try call.form())
        case "application/json": try call.spc(in: try call.json())
        default: try call.rawSPC()
        }
    }

    /// All members are required. The content identifier is 3 to 100 letters, digits, `-` and `_`.
    private func check(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let text = call.request.headers[Self.tokenField], !text.isEmpty else {
            throw .tokenMissing("the header X-DRM-TOKEN")
        }
        guard let json = Data(lenientBase64: text).flatMap({ JSONValue($0) }) else {
            throw .tokenMalformed("X-DRM-TOKEN is not JSON in base64.")
        }
        for name in ["siteId", "contentId", "drmType", "userId"] where json[name]?.text?.isEmpty != false {
            throw .tokenMalformed("X-DRM-TOKEN has no “\(name)”.")
        }
        guard json["drmType"]?.text == "FAIRPLAY" else { throw .tokenMalformed("The “drmType” is not FAIRPLAY.") }
        let content = json["contentId"]?.text ?? ""
        guard content.count >= 3, content.isMadeOfLettersDigits(and: "-_", limit: 100) else {
            throw .tokenMalformed("The “contentId” is not 3 to 100 letters, digits, - and _.")
        }
        guard siteID.map({ $0 == json["siteId"]?.text }) ?? true else { throw .unknownTenant("There is no such site.") }
        guard content == contentID else { throw .notCovered("The token is for other content.") }
        if json["responseFormat"]?.text?.uppercased() == "JSON" {
            call.warn("responseFormat", "the format JSON is not emulated; the reply is ORIGINAL")
        }
    }

    /// The gateway in front of the service wants all of its fields. A player that the customer's own server fronts sends none.
    private func checkGateway(_ call: ServiceCall) throws(LicenseRefusal) {
        let headers = call.request.headers
        guard let text = headers["x-ncp-apigw-timestamp"] else {
            guard secretKey == nil else { throw Self.unauthenticated("There is no x-ncp-apigw-timestamp.") }
            return call.warn("gatewayFields", "the gateway's fields are missing; the vendor's page requires them")
        }
        let now = environment.time.date.timeIntervalSince1970
        guard let sent = Double(text), abs(now - sent / 1_000) <= 300 else {
            throw Self.unauthenticated("The x-ncp-apigw-timestamp is more than 5 minutes off.")
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
        LicenseRefusal(.vendor(code: "200", status: 401), reason: reason, remedy: "Sign the gateway's fields anew.")
    }
}

/// A refusal as the service names and numbers it.
private struct NAVERError {
    let code: String
    let status: Int

    init(_ refusal: LicenseRefusal) {
        switch refusal.kind {
        case .vendor(let code, let status): (self.code, self.status) = (code, status)
        case .unknownTenant: (code, status) = ("281003", 400)
        case .tokenMalformed: (code, status) = ("280001", 400)
        case .notCovered, .contentMismatch, .policy, .sessionLimit, .unknownKey, .ambiguousKey, .tokenExpired,
            .tokenNotYetValid, .tokenSignature, .tokenUsed:
            (code, status) = ("2810012", 400)
        case .tokenMissing, .malformedRequest: (code, status) = ("280003", 400)
        case .method, .mediaType: (code, status) = ("280003", refusal.status)
        case .spc(.keyUnavailable), .overloaded: (code, status) = ("280000", 500)
        case .spc: (code, status) = ("280002", 400)
        }
    }

    func reply(_ words: String) -> HTTPResponse {
        .json(
            [
                "error": .object([
                    "code": .text(code), "name": .text(Self.names[code] ?? "UNAUTHORIZED"), "message": .text(words),
                ])
            ], status: status)
    }

    /// Those of the list that concern licenses.
    static let documented =
        DocumentedRefusal.all(500, at: endpoints, "280000 280002")
        + DocumentedRefusal.all(400, at: endpoints, "280001 280003 281003 281004 281005 2810011 2810012")

    private static let endpoints: Set<ServiceEndpoint> = [.license, .certificate]

    private static let names = [
        "280000": "EXCEPTION", "280001": "JSON_PARSE_FAILED_EXCEPTION", "280002": "WEB_COMMON_UNHANDLED_EXCEPTION",
        "280003": "WEB_INVALID_PARAMETER_TYPE_TWO_PARAM", "281003": "SITE_NOT_FOUND",
        "281004": "SITE_STATUS_NOT_RUNNING", "281005": "SITE_STATUS_NOT_ON", "2810011": "SITE_CERT_INCOMPLETE",
        "2810012": "LICENSE_DRM_INFO_NOT_FOUND",
    ]
}
