import Foundation
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One profile with its settings and a key URI, and what passes over the wire for it.
///
/// The SPC is 4 bytes that need `+`, `/` and `=` in base64; the token is `TOKEN` and the message id `MESSAGE-ID`.
struct ProfileWire {
    static let spc = Data([0xfb, 0xff, 0x00, 0x01])
    /// The SPC in base64, in base64 of the URL-safe alphabet, and in a form.
    static let base64 = "+/8AAQ==", urlSafe = "-_8AAQ==", inForm = "%2B%2F8AAQ%3D%3D"
    /// A CKC of version 1 that states its length, and the same in base64.
    static let ckc = Data([0, 0, 0, 1] + [UInt8](repeating: 0xfb, count: 20) + [0, 0, 0, 4, 1, 2, 3, 4])
    static let ckcText = ckc.base64EncodedString()
    /// Bytes with a certificate's outer shape.
    static let certificate = Data([0x30, 0x81, 0x80] + [UInt8](repeating: 0x5a, count: 128))

    var profile: VendorProfile
    var key: KeyURI
    var token: String?
    var session: [String: Secret] = [:]
    var lookup: [String: Secret] = [:]

    init(_ profile: VendorProfile, key: KeyURI, token: String? = "TOKEN", _ settings: [String: String] = [:]) {
        let addresses = ["certificateURL": "https://c.example/fps.cer", "licenseURL": "https://l.example/fps"]
        self.profile = profile.with(addresses).with(settings)
        self.key = key
        self.token = token
    }

    private var credentials: CredentialSet { token.map { .token($0) } ?? .none }
}

extension ProfileWire {
    /// What the SPC names the key by.
    func contentIdentifier() throws -> String? { try profile.contentIdentifier(for: key).text }

    /// The certificate request as text; nil where the profile makes none.
    func certificateRequest() async throws -> String? {
        let credentials = credentials
        return try await profile.certificateRequest(CertificateContext { credentials })?.sent
    }

    /// The license request as text.
    func licenseRequest(_ purpose: KeyPurpose = .streaming) async throws -> String {
        try await profile.licenseRequest(for: SPCMessage(Self.spc), context(purpose)).sent
    }

    /// The request of the lookup as text; nil where the profile makes none.
    func lookupRequest() async throws -> String? { try await profile.lookupRequest(lookupContext)?.sent }

    /// The values that a lookup's reply holds.
    func lookup(_ body: String, status: Int = 200) throws -> [String: Secret] {
        try profile.lookup(from: Self.exchange(status, [], Data(body.utf8)), lookupContext)
    }

    /// The license that a reply holds.
    func license(_ body: Data, status: Int = 200, _ headers: [(name: String, value: String)] = []) throws -> License {
        try profile.license(from: Self.exchange(status, headers, body), context(.streaming))
    }

    /// The license that a reply of text holds.
    func license(_ body: String, status: Int = 200, _ headers: [(name: String, value: String)] = []) throws -> License {
        try license(Data(body.utf8), status: status, headers)
    }

    /// The certificate that a reply holds.
    func certificate(_ body: Data) throws -> Data {
        try profile.certificate(from: Self.exchange(200, [], body)).der
    }

    /// What a license reply is refused with.
    func refusal(
        _ body: String, status: Int, _ headers: [(name: String, value: String)] = []
    ) -> IntegrationError? {
        do {
            _ = try license(body, status: status, headers)
            return nil
        } catch { return error as? IntegrationError }
    }

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

    private static func exchange(_ status: Int, _ headers: [(name: String, value: String)], _ body: Data)
        -> HTTPExchange
    {
        let request = URLRequest(url: URL(filePath: "/"))
        return HTTPExchange(request: request, reply: HTTPReply(status: status, headers: headers, body: body))
    }
}

extension URLRequest {
    /// Method and URL, header fields by name in lower case, and, where there is one, a blank line and the body; bytes that are
    /// no text in hexadecimal digits.
    var sent: String {
        let headers = (allHTTPHeaderFields ?? [:]).map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        let body = httpBody.map { ["", String(data: $0, encoding: .utf8) ?? $0.hexString] } ?? []
        return (["\(httpMethod ?? "-") \(url?.absoluteString ?? "-")"] + headers + body).joined(separator: "\n")
    }
}
