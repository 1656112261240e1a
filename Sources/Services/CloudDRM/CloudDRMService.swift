import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Insys's Cloud DRM (drm.cloud): certificate, and licenses for raw and multipart requests, answered raw or as JSON.
///
/// Source: `vendors.md` §2.
public struct CloudDRMService: VendorService {
    /// In what form the certificate is given out.
    public enum CertificateEncoding: Sendable, Hashable, CaseIterable {
        /// DER, the usual one.
        case der
        /// The DER in base64.
        case base64
        /// PEM.
        case pem
    }

    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The one brand that the service takes; nil, the default, takes any.
        public var brandGuid: String?
        /// The key that tokens have to be signed with, base64-decoded, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?
        /// The form of the certificate. Default DER.
        public var certificateEncoding = CertificateEncoding.der

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "cloud-drm"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// The brand of the demonstration: the one that the service takes, else this.
    private var brand: String { configuration.brandGuid ?? "5f0c2a4e-7d1b-4c3e-9a86-0b1d2e3f4a5b" }

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: brand, signing key and certificate form.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        case "/certificate/fairplay": .certificate
        case "/acquire-license/fairplay": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try certificate(call) : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        let iv = key.content.iv.withUnsafeBytes { $0.hexString }
        return "skd://\(host)/\(identifier)/acquire-license/fairplay?BrandGuid=\(brand)&KID=\(key.id)&IV=\(iv)"
    }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/certificate/fairplay", "licenseURL": "\(base)/acquire-license/fairplay",
            "brandGuid": brand,
        ]
    }

    public func demoToken() -> Secret { token(claims: #"{"kid":["*"],"persistent":false}"#) }

    /// A token that expires in an hour unless its claims say otherwise; signed where the service has a key.
    /// - Parameter claims: a JSON object with the claims of either generation; other text counts as no claims.
    public func token(claims: String) -> Secret {
        let members = JSONWebToken.claims(claims, at: environment.time.date)
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }
}

extension CloudDRMService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try call.require("GET", "HEAD")
        // The certificate endpoint has no header form of the brand.
        try checkBrand(call.request.queryValue("BrandGuid"))
        if let token = call.request.queryValue("UserToken") ?? call.request.headers["x-drm-usertoken"] {
            _ = try CloudDRMToken(token, key: configuration.signingKey, date: environment.time.date)
        }
        let der = try call.certificate()
        switch configuration.certificateEncoding {
        case .der: return .octets(der)
        case .base64: return .text(der.base64EncodedString())
        case .pem: return .text(Self.pem(der))
        }
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        try checkBrand(credential("BrandGuid", header: "x-drm-brandGuid", call))
        guard let text = credential("UserToken", header: "x-drm-usertoken", call), !text.isEmpty else {
            throw .tokenMissing("the header x-drm-usertoken or the query item UserToken")
        }
        let token = try CloudDRMToken(text, key: configuration.signingKey, date: environment.time.date)
        let id = try keyID(call)
        guard token.covers(id) else { throw .notCovered("The token does not list the key \(id).") }
        try checkIV(call, of: id)
        let question = LicenseQuestion(
            spc: try spc(call), keyName: id.description, terms: token.terms(at: environment.time.date)
        ) { identifier in
            // The key URI without its scheme.
            identifier.text.map { KeyURI($0).queryValue("KID") ?? $0 }
        }
        return Self.reply(try await call.ckc(for: question), to: call.request)
    }

    private func spc(_ call: ServiceCall) throws(LicenseRefusal) -> Data {
        guard call.request.headers.mediaType == "multipart/form-data" else { return try call.rawSPC() }
        guard let field = MultipartForm(call.request)?["spc"] else { throw .malformed("There is no field “spc”.") }
        return try call.base64(String(decoding: field, as: UTF8.self), in: "spc")
    }

    /// The key that the query names; the header form of one page of the vendor's is let pass.
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
        guard let text = call.request.queryValue("IV"), case .one(let key) = environment.authority.keys.key(id) else {
            return
        }
        guard let iv = Data(hexString: text), Secret(iv) == key.content.iv else {
            throw .malformed("The IV is not that of the key.")
        }
    }

    private func checkBrand(_ text: String?) throws(LicenseRefusal) {
        guard let text, !text.isEmpty else { throw .malformed("There is no BrandGuid.") }
        guard let brand = KeyID(text) else { throw .malformed("The BrandGuid is not a GUID.") }
        guard configuration.brandGuid.map({ brand == KeyID($0) }) ?? true else {
            throw LicenseRefusal(
                .unknownTenant, reason: "There is no brand \(brand).", remedy: "Check the BrandGuid in the console.")
        }
    }

    /// A credential from its header field, else from the query.
    private func credential(_ name: String, header: String, _ call: ServiceCall) -> String? {
        let (field, item) = (call.request.headers[header], call.request.queryValue(name))
        if let field, let item, field.lowercased() != item.lowercased() {
            call.warn("twoCredentials", "\(name) differs between header and query; the header counts")
        }
        return field ?? item
    }

    private static func reply(_ ckc: Data, to request: HTTPRequest) -> HTTPResponse {
        let accepted = request.headers.values(of: "Accept").joined(separator: ",").lowercased()
        return .ckc(ckc, in: accepted.contains("application/json") ? .json : .raw)
    }

    private static func pem(_ der: Data) -> String {
        let text = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }
}
