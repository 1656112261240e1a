public import Foundation
import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A vendor's requests for a player that sends them itself, gets the header fields once, and waits for nothing.
///
/// All steps that take time are done when it is made. So it takes only vendors that need none later: credentials are requested once, and
/// there are no lookups, no session setup, and no header fields that differ from key to key. No heartbeats are sent: a slot of
/// `latchkey-server` lives by its leases.
@_spi(Adapters) public struct PreparedExchange: Sendable {
    /// The request for the application certificate; `nil` if the certificate is a setting without an address.
    public let certificateRequest: URLRequest?
    /// The application certificate, DER, if it is a setting.
    public let bundledCertificate: Data?
    /// The address of the license service; `nil` if it differs from key to key.
    public let licenseURL: URL?
    /// The header fields of every license request.
    public let licenseHeaders: [String: String]
    private let vendor: ConfiguredVendor
    private let credentials: CredentialSet
    private let hosts: HostPolicy
    /// The credentials of the latest exchanges before this one. A reply to an earlier request may repeat them.
    private var earlier: [Secret] = []

    /// - Parameters:
    ///   - vendor: the vendor.
    ///   - credentials: asked once, for credentials that last as long as the stream.
    ///   - hosts: the hosts that requests may go to.
    ///   - key: the key, if the exchange is made for one. Defaults to `nil`: for all keys of a stream.
    ///   - asset: the title that plays. Defaults to `nil`: not known.
    /// - Throws: `unfitForPlayer` if the vendor needs more; errors of settings, hosts and credentials.
    public init(
        _ vendor: ConfiguredVendor, credentials: Credentials = .none, hosts: HostPolicy = HostPolicy(),
        key: KeyURI? = nil, asset: AssetID? = nil
    ) async throws(ContentKeyError) {
        if let obstacle = vendor.obstacle { throw .unfit(vendor, obstacle) }
        do {
            let given = try await credentials(.init(.first, purpose: .streaming, key: key, asset: asset))
            if let missing = vendor.missingCredentials(in: given).first {
                throw ContentKeyError.unfit(vendor, "needs the credential \"\(missing)\" before the first key")
            }
            bundledCertificate = try vendor.bundledCertificate()?.bytes
            let request: URLRequest?
            do { request = try await vendor.certificateRequest(CertificateContext { given }) } catch {
                guard bundledCertificate != nil else { throw error }
                request = nil
            }
            let fixed = try vendor.fixedLicenseParts(credentials: given)
            certificateRequest = try request.map { try hosts.checked($0, vendor) }
            licenseURL = try fixed.url.map { try hosts.checked($0, vendor) }
            licenseHeaders = fixed.headers
            self.credentials = given
        } catch {
            throw ContentKeyError(error, otherwise: .credentialsFailed)
        }
        self.vendor = vendor
        self.hosts = hosts
    }

    /// The exchange, whose errors also hide an earlier exchange's credentials.
    public func following(_ previous: PreparedExchange?) -> PreparedExchange {
        var exchange = self
        if let previous {
            exchange.earlier = (previous.earlier + Array(previous.credentials.values.values)).suffix(Self.memory)
        }
        return exchange
    }

    private static let memory = 32

    /// The identifier by which the license service knows a key, as text.
    public func contentIdentifier(for key: KeyURI) throws(ContentKeyError) -> String {
        try read(.contentIdentifier) {
            guard let text = try vendor.contentIdentifier(for: key).text, text.utf8.count >= 2 else {
                throw ContentKeyError.unfit(vendor, "names the key by bytes that are not text")
            }
            return text
        }
    }

    /// The address of the license request for a key.
    public func licenseURL(for key: KeyURI) throws(ContentKeyError) -> URL {
        if let licenseURL { return licenseURL }
        return try read(.license) {
            // The address does not depend on the SPC.
            let request = try request(for: SPCMessage(Data([0])), key)
            guard let url = request.url else { throw IntegrationError(.invalidURL, "The request has no URL.") }
            return try hosts.checked(url, vendor)
        }
    }

    /// The body of the license request for an SPC.
    public func licenseBody(for spc: SPCMessage, key: KeyURI) throws(ContentKeyError) -> Data {
        try read(.license) { try request(for: spc, key).httpBody ?? Data() }
    }

    /// The application certificate, DER, in the body of a reply.
    public func certificate(from body: Data) throws(ContentKeyError) -> Data {
        try certificate(from: HTTPReply(status: 200, body: body))
    }

    /// The application certificate in a reply of any status.
    public func certificate(from reply: HTTPReply) throws(ContentKeyError) -> Data {
        try read(.certificate) { try vendor.certificate(from: exchange(reply)).bytes }
    }

    /// The CKC in the body of a reply.
    public func license(from body: Data) throws(ContentKeyError) -> Data {
        try license(from: HTTPReply(status: 200, body: body))
    }

    /// The CKC in a reply of any status.
    public func license(from reply: HTTPReply) throws(ContentKeyError) -> Data {
        let context = LicenseContext(keyURI: "", contentIdentifier: "")
        return try read(.license) { try vendor.license(from: exchange(reply), context).ckc.revealed }
    }

    private func request(for spc: SPCMessage, _ key: KeyURI) throws -> URLRequest {
        let context = LicenseContext(keyURI: key, contentIdentifier: try vendor.contentIdentifier(for: key))
        return try vendor.licenseRequest(for: spc, context, credentials: credentials)
    }

    private func exchange(_ reply: HTTPReply) -> HTTPExchange {
        HTTPExchange(
            request: certificateRequest ?? URLRequest(url: licenseURL ?? URL(filePath: "/")), reply: reply)
    }

    private func read<Value>(
        _ stage: ContentKeyError.Stage, _ body: () throws -> Value
    ) throws(ContentKeyError) -> Value {
        do { return try body() } catch {
            throw ContentKeyError(error, stage: stage, otherwise: .integrationFailed)
                .scrubbed(of: SecretForms(Array(credentials.values.values) + earlier))
        }
    }
}

extension ConfiguredVendor {
    /// The vendor's requirement for each key that a player that waits for nothing cannot meet.
    fileprivate var obstacle: String? {
        if lookupScope != .never { return "requires a lookup before the license request" }
        if sessionScope == .source { return "keeps a session" }
        return profile.license.method == "POST" ? nil : "sends the license request by \(profile.license.method)"
    }
}

extension HostPolicy {
    fileprivate func checked(_ url: URL, _ vendor: ConfiguredVendor) throws -> URL {
        let adapted = adapted(url)
        try check(adapted, configured: vendor.configuredURLs) { vendor.source(of: $0, nil) }
        return adapted
    }

    fileprivate func checked(_ request: URLRequest, _ vendor: ConfiguredVendor) throws -> URLRequest {
        var request = request
        request.url = try request.url.map { try checked($0, vendor) }
        return request
    }
}

extension ContentKeyError {
    fileprivate static func unfit(_ vendor: ConfiguredVendor, _ obstacle: String) -> Self {
        ContentKeyError(
            .unfitForPlayer, "\(vendor.profile.name) \(obstacle).",
            remedy:
                "Use a profile or an account without this requirement, or a player that leaves the exchange to the app."
        )
    }
}
