import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One profile with its settings and a key URI, and its messages over the wire.
///
/// Certificate and license have an address if neither profile nor test gives one. The SPC is `SampleBytes.spc`, the token
/// `TOKEN` and the message id `MESSAGE-ID`.
struct ProfileWire {
    /// A CKC of version 1 that needs `+` and `/` in base64.
    static let ckc = SampleBytes.ckc(0xfb)
    static let ckcText = ckc.base64EncodedString()
    static let certificate = SampleBytes.certificate
    static let certificateText = certificate.base64EncodedString()

    var profile: VendorProfile
    var key: KeyURI
    var token: String?
    var session: [String: Secret] = [:]
    var lookup: [String: Secret] = [:]

    init(
        _ profile: VendorProfile, key: KeyURI = "skd://key", token: String? = "TOKEN",
        _ settings: [String: String] = [:]
    ) {
        let addresses = ["certificateURL": "https://c.example/fps.cer", "licenseURL": "https://l.example/fps"]
        self.profile = profile.with(addresses).with(profile.settings).with(settings)
        self.key = key
        self.token = token
    }

    /// Credentials besides the token.
    var more: [String: Secret] = [:]

    private var credentials: CredentialSet {
        CredentialSet((token.map { CredentialSet.token($0) } ?? .none).values.merging(more) { $1 })
    }
}

/// Requests as text; `nil` if the profile makes no such request.
extension ProfileWire {
    func certificateRequest() async throws -> String? {
        let credentials = credentials
        return try await profile.unchecked.certificateRequest(CertificateContext(lookup: lookup) { credentials })?.sent
    }

    func lookupRequest() async throws -> String? { try await profile.unchecked.lookupRequest(lookupContext)?.sent }

    func licenseRequest(_ purpose: KeyPurpose = .streaming) async throws -> String {
        try await profile.unchecked.licenseRequest(for: SPCMessage(SampleBytes.spc), context(purpose)).sent
    }

    func sessionRequest(_ step: SessionStep) async throws -> String {
        let credentials = credentials
        let context = SessionContext(session: session) { credentials }
        return try await profile.unchecked.sessionRequest(step, context).sent
    }

    /// The license request itself.
    func license() async throws -> URLRequest {
        try await profile.unchecked.licenseRequest(for: SPCMessage(SampleBytes.spc), context(.streaming))
    }

    /// The content identifier of the SPC.
    func contentIdentifier() throws -> String? { try profile.contentIdentifier(for: key).text }
}

/// The contents of replies.
extension ProfileWire {
    typealias Headers = [(name: String, value: String)]

    func certificate(_ body: Data, status: Int = 200) throws -> Data {
        try profile.unchecked.certificate(from: Self.exchange(status, [], body)).bytes
    }

    func lookup(_ body: String, status: Int = 200) throws -> [String: Secret] {
        try profile.unchecked.lookup(from: Self.exchange(status, [], Data(body.utf8)), lookupContext)
    }

    func session(_ step: SessionStep, _ body: Data, status: Int = 200) throws -> SessionReply {
        try profile.unchecked.session(from: Self.exchange(status, [], body), step)
    }

    func license(_ body: Data, status: Int = 200, _ headers: Headers = []) throws -> License {
        let context = LicenseContext(keyURI: key, contentIdentifier: "id")
        return try profile.unchecked.license(from: Self.exchange(status, headers, body), context)
    }

    func license(_ body: String, status: Int = 200, _ headers: Headers = []) throws -> License {
        try license(Data(body.utf8), status: status, headers)
    }

    /// The error for a license reply; `nil` if it contains a license.
    func refusal(_ body: Data, status: Int = 200, _ headers: Headers = []) -> IntegrationError? {
        do {
            _ = try license(body, status: status, headers)
            return nil
        } catch { return error as? IntegrationError }
    }

    func refusal(_ body: String, status: Int = 200, _ headers: Headers = []) -> IntegrationError? {
        refusal(Data(body.utf8), status: status, headers)
    }
}

extension ProfileWire {
    private var lookupContext: LookupContext {
        let credentials = credentials
        return LookupContext(keyURI: key, messageID: "MESSAGE-ID") { credentials }
    }

    private func context(_ purpose: KeyPurpose) throws -> LicenseContext {
        let credentials = credentials
        return LicenseContext(
            keyURI: key, contentIdentifier: try profile.contentIdentifier(for: key), purpose: purpose, lookup: lookup,
            session: session, messageID: "MESSAGE-ID"
        ) { credentials }
    }

    private static func exchange(_ status: Int, _ headers: Headers, _ body: Data) -> HTTPExchange {
        HTTPExchange(
            request: URLRequest(url: URL(filePath: "/")), reply: HTTPReply(status: status, headers: headers, body: body)
        )
    }
}

extension URLRequest {
    /// Method and URL, header fields by name, and, if there is one, a blank line and the body; bytes other than text in
    /// hexadecimal digits.
    ///
    /// Names of header fields in lower case: Foundation on Linux writes them with capitals, and no server may care.
    var sent: String {
        let headers = (allHTTPHeaderFields ?? [:]).map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        let body = httpBody.map { ["", String(data: $0, encoding: .utf8) ?? $0.hexString] } ?? []
        return (["\(httpMethod ?? "-") \(url?.absoluteString ?? "-")"] + headers + body).joined(separator: "\n")
    }
}
