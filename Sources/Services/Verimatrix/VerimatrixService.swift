import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Verimatrix's Streamkeeper Multi-DRM: licenses as JSON, and the form of the older, non-cloud product.
///
/// Source: `vendors.md` §6.
public struct VerimatrixService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The key that tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?
        /// Whether the older product's form requests, which carry no token, are answered. Default true.
        public var takesForms = true
        /// The seconds of `Retry-After` beside a 503, drawn at random. Default 1 to 5.
        public var retryAfter = 1...5

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "verimatrix"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: signing key and dialects.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // The vendor publishes no path of the certificate.
        case "/fairplay/certificate": .certificate
        case "/fairplay": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard call.endpoint == .license else { return try call.certificateFile() }
        try call.require("POST")
        let isForm = call.request.headers.mediaType == "application/x-www-form-urlencoded"
        return isForm && configuration.takesForms ? try await formLicense(call) : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)?keyId=\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/fairplay/certificate", "licenseURL": "\(base)/fairplay"]
    }

    public func demoToken() -> Secret { token() }

    /// A token that expires in an hour unless its claims say otherwise.
    /// - Parameter claims: a JSON object, such as `{"sub":"…","policy":{"fairplay":{"lease":true,"lease_duration":900}}}`.
    public func token(claims: String = "{}") -> Secret {
        let members = JSONWebToken.claims(claims, at: environment.time.date)
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        guard call.endpoint == .license, let error = VerimatrixError(refusal) else {
            return .text("\(refusal.code): \(refusal.reason)", status: refusal.status)
        }
        // The shape is not published; code and message are.
        var response = HTTPResponse.json(
            ["code": .text(error.code), "message": .text(refusal.reason)], status: error.status)
        if error.status == 503 { response.headers["Retry-After"] = "\(Int.random(in: configuration.retryAfter))" }
        return response
    }
}

extension VerimatrixService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard let text = call.request.headers["Authorization"] ?? call.request.queryValue("Authorization"),
            !text.isEmpty
        else { throw .tokenMissing("the header or the query item Authorization") }
        let token = try JSONWebToken.checked(text, key: configuration.signingKey, date: environment.time.date)
        let body = try call.json()
        let spc = try Self.spc(try body.required("spc"), call)
        return .ckc(try await call.ckc(for: question(spc, token.claims)), in: .json)
    }

    private func formLicense(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let form = try call.form()
        let field = try form.required("spc")
        // Documented: URL-safe with padding. Standard base64 is as good, but has a `+` to lose.
        let spc = field.contains(" ") ? try call.spc(in: form) : try Self.spc(field, call)
        return .ckc(try await call.ckc(for: question(spc, nil)), as: .tagged)
    }

    private func question(_ spc: Data, _ claims: JSONValue?) -> LicenseQuestion {
        LicenseQuestion(spc: spc, keyName: claims?["sub"]?.text, terms: Self.terms(claims?["policy"]?["fairplay"])) {
            // The id between `skd://` and `?`; one client keeps the query.
            identifier in identifier.text.map { KeyURI($0).remainderBeforeQuery }
        }
    }

    /// Both base64 alphabets are documented.
    private static func spc(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) -> Data {
        try call.base64(text.replacing("-", with: "+").replacing("_", with: "/"), in: "spc")
    }

    /// The terms that the token's policy grants; nil where it says nothing.
    private static func terms(_ policy: JSONValue?) -> LicenseTerms? {
        if policy?["persistence"]?.flag == true {
            return LicenseTerms(policy?["persistence_duration"]?.seconds.map { .persistentFor($0) } ?? .persistent)
        }
        if policy?["lease"]?.flag == true, let lease = policy?["lease_duration"]?.seconds {
            return LicenseTerms(.lease(lease))
        }
        return policy?["key_duration"]?.seconds.map { LicenseTerms(.rental($0)) }
    }
}
