import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Integrations) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An error names the origin of its value, whoever gave it; a valid value has no error.
@Suite(.timeLimit(.minutes(1))) struct ValueOriginTests {
    @Test(arguments: OriginCase.all)
    func `an error about a value names its origin`(_ test: OriginCase) async {
        let (wrong, right) = (await test.said(.wrong), await test.said(.right))
        #expect(wrong?.hasPrefix(test.sentence) == true, "\(wrong ?? "nothing")")
        #expect(right == nil, "\(right ?? "")")
    }
}

/// A value of one origin, which decides whether a key arrives.
struct OriginCase: Sendable, CustomTestStringConvertible {
    enum Value: Sendable { case right, wrong }

    let name: String
    /// How the error of the wrong value begins.
    let sentence: String
    /// The report about the value: the error of the key, or the warning next to it.
    let said: @Sendable (Value) async -> String?
    var testDescription: String { name }

    private static func harness(
        _ name: String, _ sentence: String, _ make: @escaping @Sendable (Value) -> (Harness, KeyURI)
    ) -> Self {
        Self(name: name, sentence: sentence) { value in
            let (harness, uri) = make(value)
            let events = harness.loader.events()
            let answer = await harness.answer(FakeKeyRequest(uri))
            for await event in events {
                if case .replyWarning(let warning) = event.kind { return answer.error?.reason ?? warning.text }
                if case .answered = event.kind { break }
                if case .failed = event.kind { break }
            }
            return answer.error?.reason
        }
    }

    private static func own(
        _ name: String, _ sentence: String, _ make: @escaping @Sendable (Value) -> OwnIntegration
    ) -> Self {
        harness(name, sentence) { value in
            let own = make(value)
            let reply: FakeTransport.Step = own.refused ? .status(403) : .ckc
            let posts = own.period == nil ? [reply] : [.ok("{}"), reply]
            let given = Credentials.token { _ in own.token }
            return (Harness(own, get: [.ok("{}")], post: posts, credentials: given) { $0.retry = .never }, key)
        }
    }

    private static func vendor(
        _ name: String, _ sentence: String, _ make: @escaping @Sendable (Value) -> ConfiguredVendor
    ) -> Self {
        harness(name, sentence) { (Harness(make($0)), key) }
    }

    private static let page = Data("<html><body>Sign in</body></html>".utf8)
    private static let expired = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3MDAwMDAwMDB9.AAAA"

    static let all: [Self] = [
        own("CKC, integration", "The integration own gave base64 text of a CKC in place of a CKC.") { value in
            OwnIntegration(ckc: value == .right ? SampleBytes.ckc() : SampleBytes.ckc().base64EncodedData())
        },
        harness("CKC, reply", "The reply should be the CKC, and is an HTML page") { value in
            (
                Harness(VendorProfile.raw.unchecked, post: [value == .right ? .ckc : .ok(page)]) { $0.retry = .never },
                key
            )
        },
        own("certificate, integration", "The integration own gave an HTML page in place of a certificate.") { value in
            OwnIntegration(bundled: value == .right ? SampleBytes.certificate : page)
        },
        own(
            "certificate, integration that reads a reply", "The integration own gave nothing in place of a certificate."
        ) {
            OwnIntegration(bundled: nil, certificate: $0 == .right ? SampleBytes.certificate : Data())
        },
        harness("certificate, reply", "The service's reply holds an HTML page in place of a certificate.") { value in
            (Harness(get: [value == .right ? .certificate : .ok(page)]) { $0.retry = .never }, key)
        },
        vendor("certificate, setting", #"The setting "certificate" holds an HTML page in place of a certificate."#) {
            ConfiguredVendor.expressPlay(certificate: $0 == .right ? SampleBytes.certificate : page)
                .with { $0.license.url = URLRule(.fixed("https://fp.service.expressplay.com/")) }
        },
        own("token, credential of an integration", #"The credential "token" expired at 2023-11-14"#) { value in
            OwnIntegration(token: value == .right ? "opaque" : expired, refused: value == .wrong)
        },
        harness("token, credential of a profile", #"The credential "token" was generated at 2020-01-01"#) { value in
            let sent = value == .right ? token : token.replacing("2026", with: "2020")
            return (Harness(post: [value == .right ? .ckc : .status(403)], credentials: .token { _ in sent }), key)
        },
        harness("host, playlist", "The playlist's key URI gave the host cdn.example:443, which was not configured.") {
            (Harness(), $0 == .right ? key : "skd://cdn.example/license/abc")
        },
        harness("host, credential", #"The credential "token" holds the host cdn.example:443, neither configured"#) {
            value in
            let host = value == .right ? "fairplay-license.vudrm.tech" : "cdn.example"
            let vendor = VendorProfile.raw.unchecked.with { $0.license.url = URLRule(.credential("token")) }
            return (Harness(vendor, credentials: .token { _ in "https://\(host)/license?t=1" }), key)
        },
        own("host, integration", "The integration own gave the host cdn.example:443, neither configured") {
            OwnIntegration(host: $0 == .right ? "l.example" : "cdn.example")
        },
        harness("host, redirect", "The service's redirect gave the host cdn.example:443, neither configured") { value in
            let place = "https://\(value == .right ? "fairplay-license.vudrm.tech" : "cdn.example")/other"
            return (Harness(get: [.status(302, [("Location", place)]), .certificate]), key)
        },
        vendor("URL, setting", #"The setting "certificateURL" holds a URL on a.example, which is not https."#) {
            VendorProfile.raw.setting("certificateURL", to: "http\($0 == .right ? "s" : "")://a.example/c").unchecked
        },
        own("heartbeat −1, integration", "The integration own gave the heartbeat -1: a negative period") {
            OwnIntegration(period: $0 == .right ? 30 : -1)
        },
        own("heartbeat 0, integration", "The integration own gave the heartbeat 0: with 0, no heartbeat") {
            OwnIntegration(period: $0 == .right ? 9_999 : 0)
        },
        own("heartbeat 30,000, integration", "The integration own gave the heartbeat 30000: milliseconds") {
            OwnIntegration(period: $0 == .right ? 30 : 30_000)
        },
        harness("heartbeat −1, reply", "The service's reply holds the heartbeat -1: a negative period") {
            nagra($0, -1)
        },
        harness("heartbeat 0, reply", "The service's reply holds the heartbeat 0: with 0, no heartbeat") {
            nagra($0, 0)
        },
        harness("heartbeat 30,000, reply", "The service's reply holds the heartbeat 30000: milliseconds") {
            nagra($0, 30_000)
        },
    ]

    private static func nagra(_ value: Value, _ wrong: Int) -> (Harness, KeyURI) {
        let vendor = VendorProfile.nagra.with([
            "certificateURL": "https://n.example/c", "licenseURL": "https://n.example/l",
            "sessionURL": "https://n.example/s",
        ]).unchecked
        let seconds = value == .right ? 30 : wrong
        let license = #"{"CkcMessage":"\#(SampleBytes.ckc().base64EncodedString())"}"#
        return (
            Harness(
                vendor, post: [.ok(#"{"sessionToken":"S","heartbeat":\#(seconds)}"#), .ok(license)],
                credentials: .token { _ in "T" }
            ) { $0.retry = .never }, SessionHarness.key
        )
    }
}

extension ConfiguredVendor {
    fileprivate func with(_ change: (inout VendorProfile) -> Void) -> ConfiguredVendor {
        var profile = profile
        change(&profile)
        return profile.unchecked
    }
}

/// An integration in code with one value that may be wrong.
private struct OwnIntegration: VendorIntegration {
    let identifier = "own"
    var bundled: Data? = SampleBytes.certificate
    /// The certificate in the reply, if it is not bundled.
    var certificate = Data()
    var ckc = SampleBytes.ckc()
    var host = "l.example"
    var token = "opaque"
    var refused = false
    /// Of heartbeats, in seconds; `nil` without sessions.
    var period: Double?

    var configuredURLs: [URL] { [URL(string: "https://l.example/")].compactMap(\.self) }
    var sessionScope: SessionScope { period == nil ? .never : .source }

    func bundledCertificate() throws -> ApplicationCertificate? { try bundled.map { try ApplicationCertificate($0) } }
    func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? { try request("l.example") }
    func certificate(from exchange: HTTPExchange) throws -> ApplicationCertificate {
        try ApplicationCertificate(certificate)
    }
    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        _ = try await context.credentials()
        return try post(host)
    }
    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        try ErrorRules().check(exchange.reply)
        return License(ckc: Secret(ckc))
    }
    func sessionRequest(_ step: SessionStep, _ context: SessionContext) async throws -> URLRequest {
        try post("l.example")
    }
    func session(from exchange: HTTPExchange, _ step: SessionStep) throws -> SessionReply {
        SessionReply(values: ["s": Secret("1")], period: period.map { Duration.seconds($0) })
    }

    private func request(_ host: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "https://\(host)/")))
    }
    private func post(_ host: String) throws -> URLRequest {
        var request = try request(host)
        request.httpMethod = "POST"
        return request
    }
}
