public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// How to talk to one vendor's license service: a few steps, each with a default.
///
/// A `ConfiguredVendor` has them as data. If a service needs code, conform your own type. Hooks may be async and may throw. They receive
/// all that they need: keep nothing about a key between calls, because several keys are in flight concurrently. Hooks run on no particular
/// isolation.
@_spi(Integrations) public protocol VendorIntegration: Sendable {
    /// A stable name, such as `vudrm`, for events and errors.
    var identifier: String { get }

    /// The parts of this vendor's requests and replies that must not be shown.
    var redaction: Redaction { get }

    /// The certificate's address, if the source states one. Defaults to `nil`.
    var certificateURL: URL? { get }

    /// The license service's address, if the source states one. Defaults to `nil`: the key URI names the service.
    var licenseURL: URL? { get }

    /// The configured origins. Requests go there without the app's permission. Defaults to `certificateURL` and `licenseURL`.
    var configuredURLs: [URL] { get }

    /// How often `lookupRequest` is called: for each key, for each loader, or never. Defaults to never.
    var lookupScope: LookupScope { get }

    /// Makes the request for values that the other requests need, such as an entitlement or a delivery document.
    /// - Returns: `nil` if no lookup is needed.
    func lookupRequest(_ context: LookupContext) async throws -> URLRequest?

    /// Reads the values that the other requests need. Requests may go to URLs among them without the app's permission.
    func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret]

    /// Whether licenses belong to a secure session. Defaults to never.
    var sessionScope: SessionScope { get }

    /// Makes a request about the session. Called for each attempt, so that it can ask for fresh credentials.
    func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest

    /// Reads the reply to a request about the session.
    /// - Throws: an error that ends the session, if the service refused or a setup's reply is not complete.
    func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply

    /// The session that a license opens or continues, if licenses open sessions. Defaults to none.
    /// - Returns: `nil` if the license has none.
    func session(openedBy license: License) -> SessionReply?

    /// When keys of this vendor are renewed.
    var renewal: RenewalPolicy { get }

    /// The mechanism that keeps the session alive after a license. Defaults to heartbeats.
    func sessionRenewal(after license: License) -> SessionRenewal

    /// Names a key for the SPC. Called once per key request.
    /// - Throws: an error, which ends the key request.
    func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier

    /// Makes the request for the application certificate.
    /// - Returns: `nil` if the certificate does not come over the network but from `bundledCertificate()`.
    func certificateRequest(_ context: CertificateContext) async throws -> URLRequest?

    /// The certificate of an integration that does not fetch one.
    func bundledCertificate() throws -> ApplicationCertificate?

    /// Reads the certificate in the reply.
    func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate

    /// The likely target of the license request for a key, as far as it is known without an SPC and credentials. Only scheme, host and port
    /// count: they serve to open a connection early and to limit requests per host.
    /// - Parameters:
    ///   - key: the key's URI as the playlist states it.
    ///   - lookup: the values that were looked up for the key or for the loader.
    /// - Returns: `nil` if it is not known.
    func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL?

    /// Makes the license request for an SPC. Called for each attempt, so that it can ask for fresh credentials.
    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest

    /// Inspects the credentials of a license request before it is sent. Advice only: the service decides.
    func advice(on credentials: CredentialSet, _ context: LicenseContext, at date: Date) -> [TokenInspection.Advice]

    /// Reads the CKC, and the service's other values, in the reply.
    /// - Throws: `IntegrationError` if the service refused. Its `service` has status, code and request id.
    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License
}

/// The defaults: the whole key URI names the key, the certificate comes from the source's certificate URL, the raw SPC goes to its
/// license URL or else to the key URI's host, and any common form of reply is read. An integration with an identifier and the two
/// addresses, and without hooks, works with every service that expects no more.
///
/// Source: the THEOplayer document: each method of an integration may be left out.
@_spi(Integrations) extension VendorIntegration {
    public var redaction: Redaction { .standard }
    public var certificateURL: URL? { nil }
    public var licenseURL: URL? { nil }
    public var configuredURLs: [URL] { [certificateURL, licenseURL].compactMap { $0 } }
    public var lookupScope: LookupScope { .never }
    public func lookupRequest(_ context: LookupContext) async throws -> URLRequest? { nil }
    public func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] { [:] }
    public var sessionScope: SessionScope { .never }
    public func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest {
        throw IntegrationError(.missingSetting, "\(identifier) knows no sessions.")
    }
    public func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply { SessionReply() }
    public func session(openedBy license: License) -> SessionReply? { nil }
    public var renewal: RenewalPolicy { RenewalPolicy() }
    public func sessionRenewal(after license: License) -> SessionRenewal { .heartbeat }
    public func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier { ContentIdentifier(key.raw) }
    public func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
        certificateURL.map { URLRequest(url: $0) }
    }
    public func bundledCertificate() throws -> ApplicationCertificate? { nil }
    public func advice(
        on credentials: CredentialSet, _ context: LicenseContext, at date: Date
    ) -> [TokenInspection.Advice] { credentials.advice(for: context, at: date) }

    public func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate {
        try ErrorRules().check(exchange.reply)
        return try CertificateDecoder.sniff.certificate(from: exchange.reply.body)
    }

    public func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL? {
        try? licenseRule.url.url(RuleContext(keyURI: key), for: "license URL")
    }

    public func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        try defaultLicenseRequest(for: spc, context)
    }

    /// The default of `licenseRequest(for:_:)`: a POST of the raw SPC. For integrations that add to it.
    public func defaultLicenseRequest(for spc: SPCMessage, _ context: LicenseContext) throws -> URLRequest {
        try licenseRule.request(RuleContext(license: context, spc: spc))
    }

    private var licenseRule: RequestRule {
        let address = licenseURL.map { TextRule.fixed($0.absoluteString) } ?? .httpsURI
        return RequestRule(method: "POST", url: URLRule(address), body: .raw)
    }

    public func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try ErrorRules().check(exchange.reply)
        return License(ckc: try CKCDecoder.tolerant.contentKeyContext(from: exchange.reply.body))
    }
}

/// A server playback context: made by the player, and readable only for the license service.
@_spi(Integrations) @_spi(Adapters) public struct SPCMessage: Sendable, Hashable {
    /// The bytes; secret.
    public let bytes: Secret

    /// - Parameter data: the SPC as the player gave it.
    public init(_ data: Data) { bytes = Secret(data) }

    /// - Parameter bytes: the SPC as the player gave it.
    public init(_ bytes: Secret) { self.bytes = bytes }
}

/// A license service's answer: the CKC and the values that came with it.
@_spi(Integrations) @_spi(Adapters) public struct License: Sendable, Hashable {
    /// The content key context, ready for the player. It answers only the SPC that it was made for.
    public var ckc: Secret
    /// The service's terms for the key's life; `nil` if it stated none.
    public var terms: LicenseTerms?
    /// Other values of the reply that the profile names, such as `sessionToken`.
    public var sideValues: [String: Secret]
    /// Oddities of the reply that did not keep it from being read.
    public var warnings: [ReplyWarning]

    /// Makes a license.
    public init(
        ckc: Secret, terms: LicenseTerms? = nil, sideValues: [String: Secret] = [:], warnings: [ReplyWarning] = []
    ) {
        self.ckc = ckc
        self.terms = terms
        self.sideValues = sideValues
        self.warnings = warnings
    }

    /// Checks a CKC from code outside a profile. A device's error for anything else does not say what it is.
    /// - Parameters:
    ///   - origin: where the CKC came from.
    ///   - reply: the service's reply, if it is known.
    /// - Throws: `IntegrationError` `licenseMalformed`, which names the actual form: base64 text, JSON, a page, nothing.
    public func check(from origin: ValueOrigin, in reply: HTTPReply? = nil) throws(IntegrationError) {
        let found = Recognition(ckc.revealed)
        switch found {
        // A later version is left to the player.
        case .ckc, .laterVersion: return
        default:
            let refused = reply.flatMap {
                (200..<300).contains($0.status) ? nil : " The reply's status is \($0.status)."
            }
            let step = found.unwrapping.map { "\($0.prefix { $0 != ":" && $0 != "." }). " } ?? ""
            let mistake = IntegrationError(
                .licenseMalformed, found.described(ckc.revealed), inPlaceOf: "CKC", from: origin)
            throw IntegrationError(
                mistake.kind, mistake.reason + (refused ?? ""),
                remedy: "\(step)Give the bytes of the CKC, or throw what went wrong.",
                service: reply.map { ServiceReply(status: $0.status) })
        }
    }
}

extension VendorIntegration {
    /// The license in a reply, with a check of its CKC if it comes from code.
    package func checkedLicense(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        let license = try license(from: exchange, context)
        try license.check(from: origin, in: exchange.reply)
        return license
    }

    /// The certificate in a reply. An error about it names its origin.
    package func checkedCertificate(in exchange: HTTPExchange) throws -> ApplicationCertificate {
        try named { try certificate(from: exchange) }
    }

    /// The certificate of an integration that does not fetch one.
    package func checkedBundledCertificate() throws -> ApplicationCertificate? { try named(bundledCertificate) }

    private func named<Value>(_ certificate: () throws -> Value) throws -> Value {
        do { return try certificate() } catch let error as IntegrationError { throw error.from(origin) }
    }

    /// A warning about an unusual heartbeat period in a reply about a session.
    /// - Throws: `sessionMalformed` for a period that no session can live by.
    package func warning(of reply: SessionReply) throws(IntegrationError) -> ReplyWarning? {
        guard let seconds = reply.period?.inSeconds, let flaw = origin.flaw(ofHeartbeat: seconds) else { return nil }
        guard seconds > 0 else { throw flaw }
        return ReplyWarning(code: "unusualHeartbeat", text: flaw.reason)
    }

    /// The origin of the integration's values: its code, or with a profile the replies.
    private var origin: ValueOrigin { self is ConfiguredVendor ? .reply : .integration(identifier) }

    /// The settings that contain a text.
    package func setting(holding text: String) -> ValueOrigin? {
        let settings = (self as? ConfiguredVendor)?.profile.settings ?? [:]
        return settings.filter { $0.value.lowercased().contains(text) }.keys.min().map { .setting($0) }
    }
}

/// The credentials for one attempt, by their names in the vendor's profile. Most vendors take one, `token`.
public struct CredentialSet: Sendable, Hashable {
    /// The credentials by name.
    public var values: [String: Secret]

    /// - Parameter values: the credentials by name.
    public init(_ values: [String: Secret]) { self.values = values }

    /// Inspects the credential `token`. The requested key ID is the one in the key URI's query, if any.
    /// - Parameter format: the vendor's; `nil` for an integration in code, whose tokens are known only if they are JSON Web Tokens.
    func advice(
        for context: LicenseContext, as format: TokenFormat? = nil, settings: [String: String] = [:], at date: Date
    ) -> [TokenInspection.Advice] {
        guard let text = values[Self.tokenName]?.revealedText, !text.isEmpty else { return [] }
        let keyID = ["kid", "keyId"].lazy.compactMap { context.keyURI.queryValue($0).flatMap { KeyID($0) } }.first
        let plain = TokenText(text)
        let known = format ?? (JWTClaims(plain.token) == nil ? .opaque : .jwt)
        // Code may take the value of a header field, which includes the word Bearer.
        return known.inspect(
            format == nil && plain.hasBearer ? plain.token : text, keyID: keyID,
            contentID: context.contentIdentifier.text, purpose: context.purpose,
            settings: settings, at: date
        ).advice
    }

    /// The name of the credential that most vendors take.
    package static let tokenName = "token"

    /// The one credential that most vendors take.
    public static func token(_ token: String) -> Self { Self([tokenName: Secret(token)]) }

    /// No credentials.
    public static let none = Self([:])
}
