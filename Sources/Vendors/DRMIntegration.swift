public import Foundation
public import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// How one vendor's license service is spoken to: a few steps, each with a default.
///
/// A `VendorProfile` states them as data. Conform a type of your own where a service needs code: a hook may be async and
/// may throw, and it receives all it needs, so keep nothing about a key between calls; several keys are in flight at once.
/// Hooks run on no particular isolation.
public protocol DRMIntegration: Sendable {
    /// A stable name, such as `vudrm`, for events and errors.
    var identifier: String { get }

    /// What must not be shown of this vendor's requests and replies.
    var redaction: Redaction { get }

    /// The origins that this integration was configured with; the license and the certificate go there without asking the app.
    var configuredURLs: [URL] { get }

    /// How often `lookupRequest` is asked for: for each key, for each loader, or never, which is the default.
    var lookupScope: LookupScope { get }

    /// Asks for what the other requests need to know first, such as an entitlement or a delivery document.
    /// - Returns: nil where nothing has to be looked up.
    func lookupRequest(_ context: LookupContext) async throws -> URLRequest?

    /// Reads the values that the other requests need; an URL among them may be asked without the app's leave.
    func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret]

    /// Whether licenses belong to a secure session; they do not unless said.
    var sessionScope: SessionScope { get }

    /// Makes a request about the session. Called again for each attempt, with fresh credentials on offer.
    func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest

    /// Reads what the service says about the session.
    /// - Throws: an error that ends the session, where the service refused or a setup's reply lacks what is needed.
    func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply

    /// When the vendor wants keys to be renewed.
    var renewal: RenewalPolicy { get }

    /// What keeps the session alive, as a license says it; heartbeats unless said.
    func sessionRenewal(after license: License) -> SessionRenewal

    /// Names a key for the SPC. Called once per key request.
    /// - Throws: an error that ends the key request.
    func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier

    /// Asks for the application certificate.
    /// - Returns: nil where the certificate does not come over the network; then `bundledCertificate()` gives it.
    func certificateRequest(_ context: CertificateContext) async throws -> URLRequest?

    /// The certificate of an integration that fetches none.
    func bundledCertificate() throws -> ApplicationCertificate?

    /// Reads the certificate out of the reply.
    func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate

    /// Where the license request for a key is likely to go, as far as that is known without an SPC and credentials. Only its
    /// scheme, host and port count: to open a connection ahead, and to have requests wait in line by host.
    /// - Parameters:
    ///   - key: the key's URI as the playlist states it.
    ///   - lookup: what was looked up for the key or for the loader.
    /// - Returns: nil where it is not known.
    func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL?

    /// Makes the license request for an SPC. Called again for each attempt, with fresh credentials on offer.
    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest

    /// What a look into the credentials of a license request finds, before it is sent. Advice only: the service decides.
    func advice(on credentials: CredentialSet, _ context: LicenseContext, at date: Date) -> [TokenInspection.Advice]

    /// Reads the CKC, and what else the service says, out of the reply.
    /// - Throws: `IntegrationError` where the service refused; its `service` part holds status, code and request id.
    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License
}

/// The defaults: the whole key URI names the key, the raw SPC goes to the key URI's own host, and any common reply is read.
extension DRMIntegration {
    public var redaction: Redaction { .standard }
    public var configuredURLs: [URL] { [] }
    public var lookupScope: LookupScope { .never }
    public func lookupRequest(_ context: LookupContext) async throws -> URLRequest? { nil }
    public func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] { [:] }
    public var sessionScope: SessionScope { .never }
    public func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest {
        throw IntegrationError(.missingSetting, "\(identifier) knows no sessions.")
    }
    public func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply { SessionReply() }
    public var renewal: RenewalPolicy { RenewalPolicy() }
    public func sessionRenewal(after license: License) -> SessionRenewal { .heartbeat }
    public func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier { ContentIdentifier(key.raw) }
    public func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? { nil }
    public func bundledCertificate() throws -> ApplicationCertificate? { nil }
    public func advice(
        on credentials: CredentialSet, _ context: LicenseContext, at date: Date
    ) -> [TokenInspection.Advice] { [] }

    public func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate {
        try ErrorRules().check(exchange.reply)
        return try CertificateDecoder.sniff.certificate(from: exchange.reply.body)
    }

    public func licenseURL(for key: KeyURI, lookup: [String: Secret]) -> URL? {
        try? URLRule(.httpsURI).url(RuleContext(keyURI: key), for: "license URL")
    }

    public func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        try RequestRule(method: "POST", url: URLRule(.httpsURI), body: .raw)
            .request(RuleContext(license: context, spc: spc))
    }

    public func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try ErrorRules().check(exchange.reply)
        return License(ckc: try CKCDecoder.tolerant.contentKeyContext(from: exchange.reply.body))
    }
}

/// A server playback context: what the player made for the license service, and only it can read.
public struct SPCMessage: Sendable, Hashable {
    /// The bytes; secret.
    public let bytes: Secret

    /// - Parameter data: the SPC as the player gave it.
    public init(_ data: Data) { bytes = Secret(data) }

    /// - Parameter bytes: the SPC as the player gave it.
    public init(_ bytes: Secret) { self.bytes = bytes }
}

/// What a license service answered: the CKC and what came with it.
public struct License: Sendable, Hashable {
    /// The content key context, ready for the player; it answers only the SPC that it was made for.
    public var ckc: Secret
    /// What the service said about the key's life; nil where it said nothing.
    public var terms: LicenseTerms?
    /// Other values of the reply that the profile names, such as `sessionToken`.
    public var sideValues: [String: Secret]

    /// Makes a license.
    public init(ckc: Secret, terms: LicenseTerms? = nil, sideValues: [String: Secret] = [:]) {
        self.ckc = ckc
        self.terms = terms
        self.sideValues = sideValues
    }
}

/// The credentials for one attempt, by the names that the vendor's profile gives them; most have one, `token`.
public struct CredentialSet: Sendable, Hashable {
    /// The credentials by name.
    public var values: [String: Secret]

    /// - Parameter values: the credentials by name.
    public init(_ values: [String: Secret]) { self.values = values }

    /// The one credential of most vendors.
    public static func token(_ token: String) -> Self { Self(["token": Secret(token)]) }

    /// No credentials.
    public static let none = Self([:])
}
