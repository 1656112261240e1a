import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Brightcove Video Cloud: raw licenses for JSON requests.
///
/// Source: `vendors.md` §16.
public struct BrightcoveService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The publisher that the service takes; nil, the default, takes any and none.
        public var publisherID: String?
        /// The application that the service takes; nil, the default, takes any and none.
        public var applicationID: String?
        /// The header field of the token, which no public page names. Default `Authorization`.
        public var tokenHeader = "Authorization"
        /// What the token header has to say; nil, the default, needs no token.
        public var token: Secret?
        /// The status of a license: 200, the default, or 201.
        public var licenseStatus = 200

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "brightcove"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: names, token and status.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction {
        Redaction(headers: [configuration.tokenHeader], fields: ["server_playback_context"])
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // The catalog states the certificate's URL; the vendor publishes no path.
        case "/fairplay_application_certificate": .certificate
        case "/fairplay_session_playback": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(host)/\(identifier)/\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/fairplay_application_certificate",
            "licenseURL": "\(base)/fairplay_session_playback", "publisherId": configuration.publisherID ?? "latchkey",
            "applicationId": configuration.applicationID ?? "latchkey-demo",
        ]
    }

    public func demoToken() -> Secret { configuration.token ?? Secret("") }
}

extension BrightcoveService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        try checkToken(call)
        let body = try call.json()
        try check("publisher_id", configuration.publisherID, in: body, call)
        try check("application_id", configuration.applicationID, in: body, call)
        let key = try body.required("key_id")
        let spc = try call.spc(in: body, "server_playback_context")
        let keys = environment.authority.keys
        let question = LicenseQuestion(spc: spc, keyName: key) { identifier in
            // What the vendor's player writes into the SPC is not public; where it names a key, it counts.
            let name = keys.name(in: identifier)
            return keys.hasKey(named: name) ? name : nil
        }
        var response = HTTPResponse.octets(try await call.ckc(for: question))
        response.status = configuration.licenseStatus
        return response
    }

    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let token = configuration.token else { return }
        let sent = try call.token(inHeader: configuration.tokenHeader)
        guard Secret(sent) == token else { throw .notCovered("The token is not the configured one.") }
    }

    /// A name that clients leave empty, but do not leave out, when they do not know it.
    private func check(
        _ field: String, _ wanted: String?, in body: JSONValue, _ call: ServiceCall
    ) throws(LicenseRefusal) {
        if body[field]?.text == nil { call.warn("missingField", "“\(field)” is missing; unknown, it is an empty text") }
        guard wanted.map({ $0 == body[field]?.text }) ?? true else {
            throw .unknownTenant("“\(field)” is not the configured one.")
        }
    }
}
