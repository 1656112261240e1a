import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Irdeto Control: raw licenses from a URL that names customer, content and key.
///
/// Source: `vendors.md` §14.
public struct IrdetoService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The customer in the paths; nil, the default, takes any.
        public var customer: String?
        /// The `applicationId` of certificate requests; nil, the default, takes any.
        public var applicationID: String?
        /// Whether a license needs a token. Default false; a token that is sent is checked all the same.
        public var requiresToken = false
        /// The key that tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "irdeto"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    private var application: String { configuration.applicationID ?? "latchkey" }
    /// Where the demonstration's paths begin, below the host.
    private var path: String { "licenseServer/streaming/v1/\(configuration.customer ?? "DEMO")" }

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: customer, application and token rules.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        let path = request.path.split(separator: "/").map(String.init)
        guard path.count == 5, path.starts(with: ["licenseServer", "streaming", "v1"]),
            configuration.customer.map({ $0 == path[3] }) ?? true
        else { return nil }
        switch path[4] {
        case "getcertificate": return .certificate
        case "getckc": return .license
        default: return nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try certificate(call) : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/\(path)/getckc?contentId=\(key.id)&keyId=\(key.id)"
    }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/\(path)/getcertificate?applicationId=\(application)",
            "licenseURL": "\(base)/\(path)/getckc", "applicationId": application,
        ]
    }

    public func demoToken() -> Secret { token() }

    /// A token that expires in an hour unless its claims say otherwise.
    /// - Parameter claims: a JSON object; other text counts as no claims.
    public func token(claims: String = "{}") -> Secret {
        let members = JSONWebToken.claims(claims, at: environment.time.date)
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }
}

extension IrdetoService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        guard let sent = call.request.queryValue("applicationId"), !sent.isEmpty else {
            throw .malformed("The query has no “applicationId”.")
        }
        guard configuration.applicationID.map({ $0 == sent }) ?? true else {
            throw .unknownTenant("There is no application “\(sent.prefix(80))”.")
        }
        return try call.certificateFile()
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        try checkToken(call)
        let content = call.request.queryValue("contentId")
        let name = try keyName(call, content)
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: name) { identifier in
            // Either the content alone, which may have several keys, or the whole key URI.
            guard let text = identifier.text, text != content else { return nil }
            let uri = KeyURI(text)
            return uri.queryValue("keyId") ?? uri.queryValue("contentId") ?? text
        }
        return .octets(try await call.ckc(for: question))
    }

    /// The URL's `keyId`, else its `contentId`.
    private func keyName(_ call: ServiceCall, _ content: String?) throws(LicenseRefusal) -> String {
        if let text = call.request.queryValue("keyId") {
            guard let id = KeyID(text) else { throw .malformed("The “keyId” is not a GUID.") }
            return id.description
        }
        guard let content, !content.isEmpty else { throw .malformed("The query has neither “keyId” nor “contentId”.") }
        return content
    }

    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let text = try call.bearerToken() else {
            guard configuration.requiresToken else { return }
            throw .tokenMissing("the header Authorization")
        }
        _ = try JSONWebToken.checked(
            text, algorithms: ["HS256", "RS256"], key: configuration.signingKey, date: environment.time.date)
    }
}
