import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// ExpressPlay (Adobe Primetime Cloud DRM): licenses by token URL, the entitlement server that gives such URLs, the token
/// service, and an on-premise license server.
///
/// Source: `vendors.md` §8.
public struct ExpressPlayService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// Whether the entitlement server allows anything. Default true.
        public var entitles = true
        /// Whether the entitlement server repeats the request's `messageID`, as documented. Default true.
        public var echoesMessageID = true
        /// The `customerAuthenticator` of the token service; nil, the default, takes any.
        public var customerAuthenticator: Secret?
        /// How long a token lasts. Default and maximum: 30 days.
        public var tokenLifetime = Duration.seconds(30 * 86_400)

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "expressplay"
    public let environment: ServiceEnvironment
    let configuration: Configuration
    /// Seals the tokens; new with every service.
    let sealingKey = Secret((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    private let playlistTokens = Locked<[KeyID: (token: Secret, renewal: Date)]>([:])

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: entitlement and token rules.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction {
        Redaction(queryItems: ["ExpressPlayToken", "customerAuthenticator", "contentKey", "kek", "ek"])
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // Apps bundle the certificate or configure a file of their own; the vendor has no path.
        case "/expressplay/fairplay.cer": .certificate
        case "/hms/fp/rights/", "/hms/fp/rights": .license
        case "/hms/fp/token": .token
        case "/sees/SEESServlet": .entitlement
        // Deployment specific.
        case "/on-premise/license": .onPremise
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        switch call.endpoint {
        case .certificate: try call.certificateFile()
        case .entitlement: try entitlement(call)
        case .token: try tokenURL(call)
        case .onPremise: try await onPremiseLicense(call)
        default: try await license(call)
        }
    }

    /// Token URL and content id in one, so that clients of every strategy find theirs.
    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/hms/fp/rights/?ExpressPlayToken=\(playlistToken(for: key.id).revealedText)&cid=\(key.id)"
    }

    /// The same token in all playlists of a stream, as a packager writes it: a key URI that changed with every load of a
    /// playlist would name another key. A new one when half of its time is over.
    private func playlistToken(for id: KeyID) -> Secret {
        let now = environment.time.date
        return playlistTokens.withLock { tokens in
            if let known = tokens[id], known.renewal > now { return known.token }
            let token = token(for: id)
            tokens[id] = (token, now + configuration.tokenLifetime.inSeconds / 2)
            return token
        }
    }

    public func parameters(at base: String) -> [String: String] {
        // The service does not see whether its host speaks TLS, so the entitlement request says it.
        let scheme = base.hasPrefix("https:") ? "?scheme=https" : ""
        return [
            "certificateURL": "\(base)/expressplay/fairplay.cer", "certificate": environment.inlineCertificate,
            "licenseURL": "\(base)/on-premise/license", "entitlementURL": "\(base)/sees/SEESServlet\(scheme)",
        ]
    }

    /// A customer cookie for the entitlement server, which takes any; licenses are for token URLs.
    public func demoToken() -> Secret { Secret("latchkey") }

    /// A token for a key.
    /// - Parameters:
    ///   - id: the key.
    ///   - lifetime: how long the token lasts; as configured unless given.
    ///   - rental: within what time playback may start; without limit unless given.
    public func token(for id: KeyID, lifetime: Duration? = nil, rental: Duration? = nil) -> Secret {
        let end = environment.time.date.timeIntervalSince1970 + (lifetime ?? configuration.tokenLifetime).inSeconds
        let token = ExpressPlayToken(
            keyID: id, expiry: UInt64(max(0, min(end, 1e12))), rental: UInt32(max(0, min(rental?.inSeconds ?? 0, 4e9))))
        return Secret(token.text(key: sealingKey))
    }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        let error = ExpressPlayError(refusal)
        if call.endpoint == .entitlement { return denial(error, refusal.reason, of: call) }
        guard call.request.queryValue("errorFormat")?.lowercased() == "json" else {
            // Names and numbers only; nothing of the request is repeated.
            let page = "<html><body><p>Error \(error.code)</p></body></html>"
            return HTTPResponse(status: error.status, contentType: "text/html", bytes: Data(page.utf8))
        }
        return .json(
            ["errorCode": .number(Double(error.code)), "errorMessage": .text(refusal.reason)], status: error.status)
    }
}

extension ServiceEndpoint {
    /// ExpressPlay's entitlement server.
    public static let entitlement: ServiceEndpoint = "entitlement"
    /// ExpressPlay's token service.
    public static let token: ServiceEndpoint = "token"
    /// An on-premise license server.
    public static let onPremise: ServiceEndpoint = "onPremise"
}

extension ExpressPlayService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        guard let token = ExpressPlayToken(try call.token(inQuery: "ExpressPlayToken"), key: sealingKey) else {
            throw .tokenMalformed("The token is not one of this service.")
        }
        guard environment.time.date.timeIntervalSince1970 < Double(token.expiry) else {
            throw .tokenExpired("The token's time is over.")
        }
        let terms = token.rental == 0 ? nil : LicenseTerms(.rental(.seconds(Int64(token.rental))))
        // The token names the key; the content identifier is the app's own affair.
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: token.keyID.description, terms: terms) { _ in
            nil
        }
        return .octets(try await call.ckc(for: question))
    }

    /// The key by the URL's `cid`, else by what the content identifier says.
    private func onPremiseLicense(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: call.request.queryValue("cid")) { identifier in
            guard let text = identifier.text else { return nil }
            let uri = KeyURI(text.contains("?") || !text.hasPrefix("cid=") ? text : "?\(text)")
            return uri.queryValue("cid") ?? text
        }
        return .octets(try await call.ckc(for: question))
    }
}
