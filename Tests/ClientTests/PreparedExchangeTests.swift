import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests for a player that sends them itself.
@Suite(.timeLimit(.minutes(5))) struct PreparedExchangeTests {
    private static let axinom = VendorProfile.axinom.with([
        "certificateURL": "https://vtb.example.com/fps.cer", "licenseURL": "https://drm.example.com/AcquireLicense",
    ])
    private static let token = Credentials.token { _ in "abc-secret-token" }
    private static let key: KeyURI = "skd://drm.example.com/movie-1"

    private static func error(
        _ profile: VendorProfile, _ credentials: Credentials = token, hosts: HostPolicy = HostPolicy()
    ) async -> ContentKeyError? {
        await #expect(throws: ContentKeyError.self) {
            try await PreparedExchange(profile.unchecked, credentials: credentials, hosts: hosts)
        }
    }

    @Test func `a vendor with the same requests for every key is fully known ahead`() async throws {
        let exchange = try await PreparedExchange(Self.axinom.unchecked, credentials: Self.token)
        #expect(exchange.certificateRequest?.url?.absoluteString == "https://vtb.example.com/fps.cer")
        #expect(exchange.licenseURL?.absoluteString == "https://drm.example.com/AcquireLicense")
        #expect(exchange.licenseHeaders["X-AxDRM-Message"] == "abc-secret-token")
        #expect(try exchange.licenseURL(for: Self.key) == exchange.licenseURL)
        #expect(try exchange.licenseBody(for: SPCMessage(SampleBytes.spc), key: Self.key) == SampleBytes.spc)
        #expect(try exchange.contentIdentifier(for: Self.key) == "drm.example.com/movie-1")
        #expect(try exchange.certificate(from: SampleBytes.certificate) == SampleBytes.certificate)
        #expect(try exchange.license(from: SampleBytes.ckc()) == SampleBytes.ckc())
    }

    @Test func `a key-dependent address is made for each key, within the allowed hosts`() async throws {
        let profile = VendorProfile.raw
        let exchange = try await PreparedExchange(profile.unchecked, credentials: Self.token)
        #expect(exchange.licenseURL == nil)
        let url = try exchange.licenseURL(for: "skd://fairplay-license.vudrm.tech/license/abc")
        #expect(url.absoluteString == "https://fairplay-license.vudrm.tech/license/abc")
        let error = #expect(throws: ContentKeyError.self) {
            try exchange.licenseURL(for: "skd://evil.example/license/abc")
        }
        #expect(error?.kind == .hostRefused && error?.stage == .license)
    }

    @Test func `a vendor that needs more than a player can give is refused with a reason`() async {
        let session = await Self.error(.nagra.setting("sessionURL", to: "https://session.example.com"))
        let lookup = await Self.error(.jwPlatform)
        var get = Self.axinom
        get.license = RequestRule(method: "GET", url: get.license.url)
        let errors = [
            session, lookup, await Self.error(get), await Self.error(Self.axinom, .none),
        ]
        #expect(errors.allSatisfy { $0?.kind == .unfitForPlayer })
        let reasons = [
            "keeps a session", "requires a lookup", "by GET", "credential \"token\"",
        ]
        for (error, reason) in zip(errors, reasons) { #expect(error?.reason.contains(reason) == true) }
    }

    @Test func `a certificate in a setting has no request`() async throws {
        var bundled = Self.axinom
        bundled.certificate = .inline(setting: "certificate")
        bundled.settings["certificate"] = SampleBytes.certificate.base64EncodedString()
        let exchange = try await PreparedExchange(bundled.unchecked, credentials: Self.token)
        #expect(exchange.certificateRequest == nil && exchange.bundledCertificate == SampleBytes.certificate)
    }

    @Test func `a key-dependent header is refused`() async {
        var profile = Self.axinom
        profile.license.headers.append(.init("X-Key", .host))
        let error = await Self.error(profile)
        #expect(error?.kind == .invalidRequest && error?.reason.contains("X-Key") == true)
    }

    @Test func `missing credentials and disallowed hosts are immediate errors`() async {
        struct Gone: Error {}
        let credentials = await Self.error(Self.axinom, Credentials { _ in throw Gone() })
        #expect(credentials?.kind == .credentialsFailed && credentials?.underlying is Gone)
        let plain = await Self.error(Self.axinom.setting("licenseURL", to: "http://drm.example.com/AcquireLicense"))
        #expect(plain?.kind == .insecureURL)
    }

    @Test func `a reply other than a certificate or a CKC is named, without the token`() async throws {
        let exchange = try await PreparedExchange(Self.axinom.unchecked, credentials: Self.token)
        let page = Data("<html>abc-secret-token</html>".utf8)
        let certificate = #expect(throws: ContentKeyError.self) { try exchange.certificate(from: page) }
        let license = #expect(throws: ContentKeyError.self) { try exchange.license(from: page) }
        #expect(certificate?.kind == .certificateMalformed && certificate?.stage == .certificate)
        #expect(license?.kind == .licenseMalformed && license?.stage == .license)
        #expect(!"\(String(describing: certificate)) \(String(describing: license))".contains("abc-secret-token"))
    }

    @Test(arguments: ["skd://", "skd://x"])
    func `a key that cannot be named is an error`(uri: String) async throws {
        let exchange = try await PreparedExchange(Self.axinom.unchecked, credentials: Self.token)
        #expect(throws: ContentKeyError.self) { try exchange.contentIdentifier(for: KeyURI(uri)) }
    }
}
