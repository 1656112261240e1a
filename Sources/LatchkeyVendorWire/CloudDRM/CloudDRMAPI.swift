package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
package import LatchkeyHTTP

/// The wire of Insys's Cloud DRM (drm.cloud), raw or multipart. Source: `Documentation/Vendors/CloudDRM.md`.
package struct CloudDRMAPI: VendorAPI {
    /// The form of the certificate.
    package enum CertificateEncoding: Sendable, Hashable, CaseIterable {
        /// DER, the usual one.
        case der
        /// The DER in base64.
        case base64
        /// PEM.
        case pem
    }

    package static let name: VendorAPIName = "cloud-drm"
    package static let tokenFields: [HTTPHeaderName] = ["x-drm-usertoken"]
    package static let otherFields: [HTTPHeaderName] = ["x-drm-brandGuid", "KID", "x-drm-kid"]
    /// The one brand that requests may name; `nil` accepts any.
    package var brandGuid: String?
    /// The form of the certificate. Defaults to DER.
    package var certificateEncoding = CertificateEncoding.der

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [.certificate("/certificate/fairplay"), .license("/acquire-license/fairplay")]
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        // The certificate endpoint has no header form of the brand.
        try checkBrand(call.request.queryValue("BrandGuid"), call)
        return switch certificateEncoding {
        case .der: .octets(certificate)
        case .base64: .text(certificate.base64EncodedString())
        case .pem: .text(Self.pem(certificate))
        }
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        if brandGuid != nil, let other = call.request.queryValue("BrandGuid") { try checkBrand(other, call) }
        try checkBrand(credential("BrandGuid", header: "x-drm-brandGuid", call), call)
        let token = credential("UserToken", header: "x-drm-usertoken", call)
        let id = try keyID(call)
        // The SPC names the key URI without its scheme.
        let key = RequestedKey.named(id.description) { $0.text.map { KeyURI($0).queryValue("KID") ?? $0 } }
        var question = LicenseQuestion(spc: try spc(call), key: key, token: token)
        let stated = call.request.queryValue("IV")
        question.objection = { key, identifier in
            // The playlist's brand.
            if brandGuid != nil, let brand = identifier.text.flatMap({ KeyURI($0).queryValue("BrandGuid") }),
                let objection = objection(toBrand: brand, call)
            {
                return objection
            }
            guard let stated, Data(hexString: stated).map({ Secret($0) == key.content.iv }) != true else { return nil }
            return .malformed("The IV is not that of the key.")
        }
        return question
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        let accepted = call.request.headers.values(of: .accept).joined(separator: ",").lowercased()
        return .ckc(ckc, in: accepted.contains("application/json") ? .json : .raw)
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse {
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

    private func spc(_ call: some VendorRequest) throws(LicenseRefusal) -> Data {
        guard call.request.headers.mediaType == "multipart/form-data" else { return try call.rawSPC() }
        guard let field = MultipartForm(call.request)?["spc"] else { throw .malformed("There is no field “spc”.") }
        return try call.base64(String(decoding: field, as: UTF8.self), in: "spc")
    }

    /// The key that the query names. A header field, as on one of the vendor's pages, leaves a warning.
    private func keyID(_ call: some VendorRequest) throws(LicenseRefusal) -> KeyID {
        var text = call.request.queryValue("KID")
        if text == nil, let header = call.request.headers["KID"] ?? call.request.headers["x-drm-kid"] {
            call.warn("kidInHeader", "KID is in a header field, not in the query")
            text = header
        }
        guard let text else { throw .malformed("There is no KID.") }
        guard let id = KeyID(text) else { throw .malformed("The KID is not a GUID.") }
        return id
    }

    private static let brand = VendorRule(
        "brand", .unknownTenant, "I5", "An unknown brand is refused: `drm_4005`. So is one that the playlist names.")
    package static let keyList = VendorRule(
        "keyList", .notCovered, "I5", "A token for other keys is refused: `drm_3033`.")
    package static let rules = [brand, keyList]

    private func checkBrand(_ text: String?, _ call: some VendorRequest) throws(LicenseRefusal) {
        if let objection = objection(toBrand: text, call) { throw objection }
    }

    private func objection(toBrand text: String?, _ call: some VendorRequest) -> LicenseRefusal? {
        guard let text, !text.isEmpty else { return Self.brandRefusal("There is no BrandGuid.") }
        guard let brand = KeyID(text) else { return Self.brandRefusal("The BrandGuid is not a GUID.") }
        guard let brandGuid, brand != KeyID(brandGuid) else { return nil }
        return call.objection(to: Self.brand, "There is no brand \(brand).")
    }

    private static func brandRefusal(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(.unknownTenant, reason: reason, remedy: "Check the BrandGuid in the console.")
    }

    /// A credential in its header field, otherwise in the query.
    private func credential(_ name: String, header: HTTPHeaderName, _ call: some VendorRequest) -> String? {
        let (field, item) = (call.request.headers[header], call.request.queryValue(name))
        if let field, let item, field.lowercased() != item.lowercased() {
            call.warn("twoCredentials", "\(name) differs between header and query; the header counts")
        }
        return field ?? item
    }

    private static func pem(_ der: Data) -> String {
        let text = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }
}
