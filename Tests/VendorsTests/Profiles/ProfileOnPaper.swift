import Foundation
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request as a test writes it down: nothing left out, nothing added. Names of header fields are in lower case, as Foundation
/// changes their letters as it likes.
struct WrittenRequest: Equatable, CustomStringConvertible {
    let method: String
    let url: String
    let headers: [String: String]
    let body: Data?

    init(method: String, url: String, headers: [String: String], body: Data?) {
        self.method = method
        self.url = url
        self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { $1 }
        self.body = body
    }

    static func get(_ url: String, _ headers: [String: String] = [:]) -> Self {
        Self(method: "GET", url: url, headers: headers, body: nil)
    }

    static func post(_ url: String, _ headers: [String: String], _ body: Data) -> Self {
        Self(method: "POST", url: url, headers: headers, body: body)
    }

    static func post(_ url: String, _ headers: [String: String], _ body: String) -> Self {
        post(url, headers, Data(body.utf8))
    }

    var description: String {
        let text = body.map { String(data: $0, encoding: .utf8) ?? $0.hexString } ?? "no body"
        return "\(method) \(url) \(headers.sorted { $0.key < $1.key }) \(text)"
    }
}

/// A profile with its settings, as it comes back from JSON, and the two values that every test shares.
struct ProfileOnPaper {
    /// An SPC whose base64 has all that is hard to send: `+`, `/` and padding.
    static let spc = Data([0xfb, 0xef, 0xff, 0x00])
    /// A CKC of version 1 with an empty payload.
    static let ckc =
        Data([0, 0, 0, 1] + [UInt8](repeating: 0, count: 4) + [UInt8](repeating: 0x5a, count: 16))
        + Data([0, 0, 0, 0])
    /// The shortest certificate that passes for one: a DER sequence of five bytes.
    static let certificate = Data([0x30, 0x81, 0x02, 0x05, 0x00])

    let profile: VendorProfile
    var token: String?
    var lookup: [String: Secret] = [:]

    init(_ profile: VendorProfile, _ settings: [String: String], token: String? = nil) throws {
        let json = try JSONEncoder().encode(profile.with(settings))
        self.profile = try JSONDecoder().decode(VendorProfile.self, from: json)
        self.token = token
    }

    private var credentials: CredentialSet { token.map { .token($0) } ?? .none }

    func identifier(_ uri: KeyURI) throws -> String? { try profile.contentIdentifier(for: uri).text }

    func lookupRequest() async throws -> WrittenRequest? {
        let credentials = credentials
        return try await profile.lookupRequest(LookupContext(keyURI: nil) { credentials }).map(Self.written)
    }

    func lookup(_ status: Int, _ body: String) throws -> [String: String] {
        try profile.lookup(from: Self.exchange(status, [:], Data(body.utf8)), LookupContext(keyURI: nil))
            .mapValues(\.revealedText)
    }

    func certificateRequest() async throws -> WrittenRequest? {
        let credentials = credentials
        return try await profile.certificateRequest(CertificateContext(lookup: lookup) { credentials })
            .map(Self.written)
    }

    func certificate(_ status: Int, _ body: Data, _ headers: [String: String] = [:]) throws -> Data {
        try profile.certificate(from: Self.exchange(status, headers, body)).der
    }

    func licenseRequest(_ uri: KeyURI, _ purpose: KeyPurpose = .streaming) async throws -> WrittenRequest {
        let credentials = credentials
        let context = LicenseContext(
            keyURI: uri, contentIdentifier: try profile.contentIdentifier(for: uri), purpose: purpose, lookup: lookup
        ) { credentials }
        return Self.written(try await profile.licenseRequest(for: SPCMessage(Self.spc), context))
    }

    func license(_ status: Int, _ body: Data, _ headers: [String: String] = [:]) throws -> License {
        let context = LicenseContext(keyURI: "skd://a", contentIdentifier: "a")
        return try profile.license(from: Self.exchange(status, headers, body), context)
    }

    func license(_ status: Int, _ body: String, _ headers: [String: String] = [:]) throws -> License {
        try license(status, Data(body.utf8), headers)
    }

    private static func exchange(_ status: Int, _ headers: [String: String], _ body: Data) -> HTTPExchange {
        let reply = HTTPReply(status: status, headers: headers.map { (name: $0.key, value: $0.value) }, body: body)
        return HTTPExchange(request: URLRequest(url: URL(filePath: "/")), reply: reply)
    }

    private static func written(_ request: URLRequest) -> WrittenRequest {
        WrittenRequest(
            method: request.httpMethod ?? "", url: request.url?.absoluteString ?? "",
            headers: request.allHTTPHeaderFields ?? [:], body: request.httpBody)
    }
}
