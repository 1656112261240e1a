import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Microsoft's Azure Media Services: licenses for form requests, chosen by the `kid` of the license URL.
///
/// Source: `vendors.md` §3.
public struct AzureService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// Whether a license needs a token. Default false, the “open” policy; a token that is sent is checked all the same.
        public var requiresToken = false
        /// The key that tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?
        /// The `iss` that tokens need; nil, the default, takes any.
        public var issuer: String?
        /// The `aud` that tokens need; nil, the default, takes any.
        public var audience: String?
        /// How the CKC is written. Default between tags.
        public var ckc = CKCText.tagged

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "azure"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: token rules and form of the reply.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // The certificate is a file of the customer's own; the vendor has no path for it.
        case "/certificates/fairplay.cer": .certificate
        case "/FairPlay/", "/FairPlay": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        // The certificate is a static file: some clients send their token along, which nobody reads.
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/FairPlay/?kid=\(key.id)"
    }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/certificates/fairplay.cer", "licenseURL": "\(base)/FairPlay/"]
    }

    public func demoToken() -> Secret { token() }

    /// A token with the configured issuer and audience that expires in an hour, unless its claims say otherwise.
    /// - Parameter claims: a JSON object; other text counts as no claims.
    public func token(claims: String = "{}") -> Secret {
        var members: [String: JSONValue] = [
            "iss": .text(configuration.issuer ?? "latchkey"), "aud": .text(configuration.audience ?? "latchkey"),
        ]
        members.merge(JSONWebToken.claims(claims, at: environment.time.date)) { $1 }
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }
}

extension AzureService {
    private static let keyClaim = "urn:microsoft:azure:mediaservices:contentkeyidentifier"

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let id = try keyID(call)
        try checkToken(call, for: id)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        if let named = Self.keyID(inIdentifier: asset), KeyID(named) != id {
            throw .malformed("“kid” of the URL and “assetId” name different keys.")
        }
        let question = LicenseQuestion(spc: spc, keyName: id.description) { identifier in
            if identifier.text != asset { call.warn("assetId", "“assetId” is not the SPC's content identifier") }
            return identifier.text.flatMap { Self.keyID(inIdentifier: $0) }
        }
        return .ckc(try await call.ckc(for: question), as: configuration.ckc)
    }

    /// The key by the URL's `kid`; the form has no say in it.
    private func keyID(_ call: ServiceCall) throws(LicenseRefusal) -> KeyID {
        guard let text = call.request.queryValue("kid") else { throw .malformed("There is no “kid”.") }
        guard let id = KeyID(text) else { throw .malformed("“kid” is not a GUID.") }
        return id
    }

    /// The key that a content identifier names: `kid=…` or a URI with it. Others, such as the host, name none.
    private static func keyID(inIdentifier text: String) -> String? {
        KeyURI(text.contains("?") ? text : "?\(text)").queryValue("kid")
    }

    private func checkToken(_ call: ServiceCall, for id: KeyID) throws(LicenseRefusal) {
        guard let text = try call.bearerToken() else {
            guard configuration.requiresToken else { return }
            throw .tokenMissing("the header Authorization")
        }
        let token = try JSONWebToken.checked(
            text, algorithms: ["HS256", "RS256"], key: configuration.signingKey, date: environment.time.date)
        try check("iss", of: token, configuration.issuer)
        try check("aud", of: token, configuration.audience)
        guard let covered = token.claims[Self.keyClaim]?.text else { return }
        guard KeyID(covered) == id else { throw .notCovered("The token is for another key than \(id).") }
    }

    private func check(_ claim: String, of token: JSONWebToken, _ wanted: String?) throws(LicenseRefusal) {
        guard let wanted, token.claims[claim]?.texts?.contains(wanted) != true else { return }
        throw .notCovered("The token's “\(claim)” is not the configured one.")
    }
}
