import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// DoveRunner, formerly PallyCon: the certificate in base64 and in DER form, licenses for form requests, and errors that
/// come with status 200.
///
/// Source: `vendors.md` §13.
public struct DoveRunnerService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The four characters of the one site that the service takes; nil, the default, takes any.
        public var siteID: String?
        /// How old a token may be; nil does not care. Default 600 s, as documented.
        public var tokenLifetime: Duration? = .seconds(600)
        /// The status of errors. Default 200: documented for certificates, not stated for licenses.
        public var errorStatus = 200
        /// Whether the errors of the license endpoint come inside the message of an error 8002. Default false.
        public var nestsErrors = false

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "doverunner"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// The site of the demonstration: the one that the service takes, else this.
    private var site: String { configuration.siteID ?? "DEMO" }

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: site, tokens and form of the errors.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction { Redaction(headers: ["pallycon-customdata-v2"]) }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        case "/ri/fpsKeyManager.do", "/ri/fpsCert.do": .certificate
        case "/ri/licenseManager.do": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try certificate(call) : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/ri/fpsKeyManager.do?siteId=\(site)",
            "licenseURL": "\(base)/ri/licenseManager.do", "siteId": site,
        ]
    }

    public func demoToken() -> Secret { token() }

    /// A token of now, for all content unless its claims have a `cid`.
    /// - Parameter claims: a JSON object with claims in place of the usual; other text counts as no claims. A readable
    ///   policy is the base64 of a JSON object with `persistent`, `license_duration` and so on.
    public func token(claims: String = "{}") -> Secret {
        var members: [String: JSONValue] = [
            "drm_type": "FairPlay", "site_id": site, "user_id": "latchkey", "policy": "AAAAAAAAAAAAAAAAAAAAAA==",
            "timestamp": environment.time.date.formatted(.iso8601), "response_format": "original",
            "hash": Data(count: 32).base64EncodedString(),
        ].mapValues { .text($0) }
        if case .object(let stated) = JSONValue(Data(claims.utf8)) { members.merge(stated) { $1 } }
        return Secret((HTTPResponse.json(members).bytes ?? Data()).base64EncodedString())
    }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        guard let error = DoveRunnerError(refusal) else {
            return .text("\(refusal.code): \(refusal.reason)", status: refusal.status)
        }
        var status = configuration.errorStatus
        if case .vendor(_, let told) = refusal.kind, told != 200 { status = told }
        let nests = call.endpoint == .license && (configuration.nestsErrors || error.code == "8002")
        return .json(nests ? error.nested : error.json, status: status)
    }
}

extension DoveRunnerService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try call.require("GET", "HEAD")
        guard let sent = call.request.queryValue("siteId"), !sent.isEmpty else {
            throw .malformed("The query has no “siteId”.")
        }
        try checkSite(sent)
        guard environment.authority.certificate != nil else {
            throw .doveRunner("7301", "The site has no FairPlay certificate.")
        }
        let der = try call.certificate()
        return call.request.path == "/ri/fpsCert.do" ? .octets(der) : .text(der.base64EncodedString())
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let name = "pallycon-customdata-v2"
        guard let text = call.request.headers[name] ?? call.request.queryValue(name), !text.isEmpty else {
            throw .tokenMissing("the header or the query item \(name)")
        }
        let token = try checked(text)
        let (spc, asset) = try body(call)
        let keys = environment.authority.keys
        var question = LicenseQuestion(spc: spc, keyName: asset, terms: try token.terms(at: environment.time.date)) {
            identifier in keys.name(in: identifier)
        }
        question.objection = { key, identifier in
            guard let content = token.contentID, content != KeyURI(identifier.description).remainder else { return nil }
            if case .one(let found) = keys.key(named: content), found.id == key.id { return nil }
            return .notCovered("The token's “cid” is not the content of the SPC.")
        }
        return .ckc(try await call.ckc(for: question), as: .bare)
    }

    private func checked(_ text: String) throws(LicenseRefusal) -> DoveRunnerToken {
        let token = try DoveRunnerToken(text)
        try checkSite(token.siteID)
        let age = environment.time.date.timeIntervalSince(token.timestamp)
        if let limit = configuration.tokenLifetime, age > limit.inSeconds {
            throw .tokenExpired("The token is \(Int(min(age, 1e9))) s old; it was good for \(Int(limit.inSeconds)) s.")
        }
        return token
    }

    private func checkSite(_ id: String) throws(LicenseRefusal) {
        guard id.count == 4, configuration.siteID.map({ $0 == id }) ?? true else {
            throw .unknownTenant("There is no site “\(id.prefix(20))”.")
        }
    }

    /// The SPC, and the asset where the form names one.
    private func body(_ call: ServiceCall) throws(LicenseRefusal) -> (spc: Data, asset: String?) {
        if call.request.headers.mediaType == "application/octet-stream" {
            guard !call.request.body.isEmpty else { throw .doveRunner("7305", "The body is empty.") }
            call.warn("rawSPC", "the body is the SPC itself and not a form")
            return (call.request.body, nil)
        }
        let form = try call.form()
        guard let field = form["spc"], !field.isEmpty else { throw .doveRunner("7305", "There is no field “spc”.") }
        do {
            return (try call.spc(in: form), form["assetId"])
        } catch {
            throw .doveRunner("7317", error.reason)
        }
    }
}
