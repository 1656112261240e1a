import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Insys's Cloud DRM (drm.cloud): certificate, and licenses for raw and multipart requests, answered raw or as JSON.
///
/// Source: `Documentation/Vendors/CloudDRM.md`.
package struct CloudDRMService: SignedTokenService {
    /// The form of the certificate.
    package enum CertificateEncoding: Sendable, Hashable, CaseIterable {
        /// DER, the usual one.
        case der
        /// The DER in base64.
        case base64
        /// PEM.
        case pem
    }

    package let identifier: ServiceIdentifier = "cloud-drm"
    package let environment: ServiceEnvironment
    /// The one brand that the service accepts. Defaults to `nil`: any.
    package var brandGuid: String?
    /// The key that signs tokens, base64-decoded, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// The form of the certificate. Defaults to DER.
    package var certificateEncoding = CertificateEncoding.der
    /// Whether a token is valid for one license only, as a customer may ask for. Defaults to `false`.
    package var tokensAreSingleUse = false

    /// The brand of the demonstration.
    private var brand: String { brandGuid ?? "5f0c2a4e-7d1b-4c3e-9a86-0b1d2e3f4a5b" }

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        [.certificate("/certificate/fairplay", certificate), .license("/acquire-license/fairplay", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        let iv = key.content.iv.withUnsafeBytes { $0.hexString }
        return "skd://\(host)/\(identifier)/acquire-license/fairplay?BrandGuid=\(brand)&KID=\(key.id)&IV=\(iv)"
    }

    package func parameters(at base: String) -> [String: String] {
        [
            // As the console shows it: the endpoint needs the brand, and older clients use the address as it is.
            "certificateURL": "\(base)/certificate/fairplay?BrandGuid=\(brand)",
            "licenseURL": "\(base)/acquire-license/fairplay",
            "brandGuid": brand,
        ]
    }

    package func demoToken() -> Secret { token(claims: #"{"kid":["*"],"persistent":false}"#) }

    /// Source: developers.drm.cloud/licence-acquisition/error-codes, read on 2026-11-27.
    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(
            403,
            """
            drm_3030 drm_3031 drm_3032 drm_3033 drm_3034 drm_3035 drm_3036 drm_3037 drm_3038 drm_3039 drm_3100 drm_4002 drm_4003 drm_4005
            """) + DocumentedRefusal.all(500, "common_3")
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let status: Int, code: String
        switch refusal.kind {
        case .vendor(let vendorCode, let vendorStatus): (status, code) = (vendorStatus, vendorCode)
        case .tokenMissing: (status, code) = (403, "drm_3036")
        case .tokenMalformed, .tokenExpired, .tokenNotYetValid: (status, code) = (403, "drm_3031")
        case .tokenSignature: (status, code) = (403, "drm_3032")
        case .tokenUsed: (status, code) = (403, "drm_3039")
        case .policy, .sessionLimit: (status, code) = (403, "drm_3030")
        case .notCovered, .unknownKey, .ambiguousKey, .contentMismatch: (status, code) = (403, "drm_3033")
        case .unknownTenant: (status, code) = (403, "drm_4005")
        case .malformedRequest: (status, code) = (403, call.request.body.isEmpty ? "drm_4002" : "drm_4003")
        case .spc(.keyUnavailable): (status, code) = (403, "drm_3100")
        case .spc: (status, code) = (403, "drm_4003")
        case .overloaded: (status, code) = (500, "common_3")
        case .method, .mediaType: return .plain(refusal)
        }
        return .json(
            [
                "code": .text(code), "status": .number(Double(status)), "message": .text(refusal.reason),
                "requestId": .text(call.id),
            ], status: status)
    }

    /// The key in base64, as the vendor's console shows it.
    package var tokenKeys: [String: Secret] {
        signingKey.map { ["signingKey": Secret($0.revealed.base64EncodedString())] } ?? [:]
    }
}

extension CloudDRMService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        // The certificate endpoint has no header form of the brand.
        try checkBrand(call.request.queryValue("BrandGuid"))
        if let token = call.request.queryValue("UserToken") ?? call.request.headers["x-drm-usertoken"] {
            _ = try CloudDRMToken(token, key: signingKey, date: environment.time.date)
        }
        let der = try call.certificate()
        switch certificateEncoding {
        case .der: return .octets(der)
        case .base64: return .text(der.base64EncodedString())
        case .pem: return .text(Self.pem(der))
        }
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkBrand(credential("BrandGuid", header: "x-drm-brandGuid", call))
        guard let text = credential("UserToken", header: "x-drm-usertoken", call), !text.isEmpty else {
            throw .tokenMissing("the header x-drm-usertoken or the query item UserToken")
        }
        let token = try CloudDRMToken(text, key: signingKey, date: environment.time.date)
        let id = try keyID(call)
        guard token.covers(id) else { throw .notCovered("The token does not list the key \(id).") }
        try checkIV(call, of: id)
        guard !tokensAreSingleUse || environment.used.add(Secret(text)) else { throw .tokenUsed }
        // The SPC names the key URI without its scheme.
        let key = RequestedKey.named(id.description) { $0.text.map { KeyURI($0).queryValue("KID") ?? $0 } }
        let question = LicenseQuestion(spc: try spc(call), key: key, terms: token.terms(at: environment.time.date))
        return Self.reply(try await call.ckc(for: question), to: call.request)
    }

    private func spc(_ call: ServiceCall) throws(LicenseRefusal) -> Data {
        guard call.request.headers.mediaType == "multipart/form-data" else { return try call.rawSPC() }
        guard let field = MultipartForm(call.request)?["spc"] else { throw .malformed("There is no field “spc”.") }
        return try call.base64(String(decoding: field, as: UTF8.self), in: "spc")
    }

    /// The key that the query names. A header field, as on one of the vendor's pages, leaves a warning.
    private func keyID(_ call: ServiceCall) throws(LicenseRefusal) -> KeyID {
        var text = call.request.queryValue("KID")
        if text == nil, let header = call.request.headers["KID"] ?? call.request.headers["x-drm-kid"] {
            call.warn("kidInHeader", "KID stands in a header field and not in the query")
            text = header
        }
        guard let text else { throw .malformed("There is no KID.") }
        guard let id = KeyID(text) else { throw .malformed("The KID is not a GUID.") }
        return id
    }

    private func checkIV(_ call: ServiceCall, of id: KeyID) throws(LicenseRefusal) {
        guard let text = call.request.queryValue("IV"), case .one(let key) = environment.keys.key(id) else {
            return
        }
        guard let iv = Data(hexString: text), Secret(iv) == key.content.iv else {
            throw .malformed("The IV is not that of the key.")
        }
    }

    private func checkBrand(_ text: String?) throws(LicenseRefusal) {
        guard let text, !text.isEmpty else { throw Self.brandRefusal("There is no BrandGuid.") }
        guard let brand = KeyID(text) else { throw Self.brandRefusal("The BrandGuid is not a GUID.") }
        guard brandGuid.map({ brand == KeyID($0) }) ?? true else {
            throw Self.brandRefusal("There is no brand \(brand).")
        }
    }

    private static func brandRefusal(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.unknownTenant, reason: reason, remedy: "Check the BrandGuid in the console.")
    }

    /// A credential in its header field, otherwise in the query.
    private func credential(_ name: String, header: HTTPHeaderName, _ call: ServiceCall) -> String? {
        let (field, item) = (call.request.headers[header], call.request.queryValue(name))
        if let field, let item, field.lowercased() != item.lowercased() {
            call.warn("twoCredentials", "\(name) differs between header and query; the header counts")
        }
        return field ?? item
    }

    private static func reply(_ ckc: Data, to request: HTTPRequest) -> HTTPResponse {
        let accepted = request.headers.values(of: .accept).joined(separator: ",").lowercased()
        return .ckc(ckc, in: accepted.contains("application/json") ? .json : .raw)
    }

    private static func pem(_ der: Data) -> String {
        let text = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }
}
