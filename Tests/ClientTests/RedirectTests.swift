import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    private static let hosts = HostPolicy(allowed: [
        "other.example", "fairplay-license.vudrm.tech:8443", "b.example", "cdn.example",
    ])

    private func to(_ location: String, _ status: Int = 307) -> FakeTransport.Step {
        .status(status, [("location", location)])
    }

    @Test(arguments: ["/v2/license?a=b", "https://fairplay-license.vudrm.tech/v2/license?a=b", "../v2/license?a=b"])
    func `within an origin everything is kept`(location: String) async {
        let harness = Harness(post: [to(location), .ckc])
        #expect(await harness.answer().ckc == SampleBytes.ckc())
        let last = harness.posts.last
        #expect(last?.url?.absoluteString == "https://fairplay-license.vudrm.tech/v2/license?a=b")
        #expect(last?.value(forHTTPHeaderField: "x-vudrm-token") == "\(token)-1")
        #expect(last?.httpBody == SampleBytes.spc && last?.httpMethod == "POST")
    }

    @Test(arguments: [
        "https://other.example/license", "https://fairplay-license.vudrm.tech:8443/license", "//other.example/license",
    ])
    func `another origin gets no credentials`(location: String) async throws {
        let harness = Harness(post: [to(location), .ckc]) { $0.hosts = Self.hosts }
        let events = harness.loader.events()
        #expect(await harness.answer().ckc == SampleBytes.ckc())
        let last = try #require(harness.posts.last)
        #expect(last.allHTTPHeaderFields == ["Content-Type": "application/octet-stream"])
        #expect(last.httpBody == SampleBytes.spc)
        let dropped = await events.untilAnswered().contains {
            if case .redirected(_, credentialsDropped: true) = $0.kind { true } else { false }
        }
        #expect(dropped)
    }

    @Test func `no other origin gets the app's own header fields`() async {
        struct Mine: VendorIntegration {
            let identifier = "mine"
            let configuredURLs = [URL(string: "https://a.example")].compactMap(\.self)
            func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
                var request = URLRequest(url: configuredURLs[0])
                for name in ["Authorization", "Cookie", "X-Api-Key", "X-Session", "Accept", "User-Agent"] {
                    request.setValue("v", forHTTPHeaderField: name)
                }
                return request
            }
        }
        let harness = Harness(Mine(), get: [to("https://b.example/c", 301), .certificate]) { $0.hosts = Self.hosts }
        _ = try? await harness.loader.applicationCertificate()
        let fields = harness.transport.requests.last?.allHTTPHeaderFields ?? [:]
        #expect(fields.keys.sorted() == ["Accept", "User-Agent"])
    }

    @Test(arguments: [301, 302, 303])
    func `a license request does not become a GET`(status: Int) async {
        let harness = Harness(post: [to("/license2", status)])
        let error = await harness.answer().error
        #expect(error?.code == "redirectRefused" && error?.stage == .license && harness.posts.count == 1)
        #expect(error?.reason == "The service redirects the license request with \(status), which would lose the SPC.")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a certificate request follows each redirect`(status: Int) async throws {
        let harness = Harness(get: [to("https://cdn.example/c.der", status), .certificate]) { $0.hosts = Self.hosts }
        #expect(try await harness.loader.applicationCertificate().bytes == SampleBytes.certificate)
        #expect(harness.transport.requests.last?.url?.absoluteString == "https://cdn.example/c.der")
    }

    @Test func `no other origin gets a body with the token`() async {
        let harness = Harness(VendorProfile.json.unchecked, post: [to("https://other.example/license")]) {
            $0.hosts = Self.hosts
        }
        let error = await harness.answer().error
        #expect(error?.code == "redirectRefused" && harness.posts.count == 1)
        #expect(error?.reason == "The service redirects a request whose body carries the token to other.example.")
        let same = Harness(VendorProfile.json.unchecked, post: [to("/other"), .ckc])
        #expect(await same.answer().ckc == SampleBytes.ckc())
    }

    @Test func `no other origin gets an address with the token`() async {
        let profile = VendorProfile.cloudDRMCertificateToken
            .with(["certificateURL": "https://a.example/c", "brandGuid": "b"])
        let harness = Harness(
            profile.unchecked,
            over: FakeTransport { request, _ in
                .status(301, [("Location", "https://b.example/c?\(request.url?.query ?? "")")])
            }
        ) { $0.hosts = Self.hosts }
        let error = await harness.answer().error
        #expect(error?.code == "redirectRefused" && error?.stage == .certificate)
        #expect(harness.transport.requests.count == 1)
    }

    @Test(arguments: [
        ("http://fairplay-license.vudrm.tech/license", "insecureURL"), ("http://other.example/", "insecureURL"),
        ("file:///etc/passwd", "insecureURL"), ("http://127.0.0.1/license", "hostRefused"),
        ("https://localhost/license", "hostRefused"), ("https://other.example/license", "hostRefused"),
        ("https://fairplay-license.vudrm.tech:8443/license", "hostRefused"), ("https://[broken", "redirectRefused"),
    ])
    func `a redirect to a disallowed place is refused`(location: String, code: String) async {
        let harness = Harness(post: [to(location)])
        let error = await harness.answer().error
        #expect(error?.code == code && error?.stage == .license && harness.posts.count == 1)
    }

    @Test func `no certificate comes from a host named only by a redirect`() async throws {
        let harness = Harness(get: [to("https://cdn.example/c.der", 302), .certificate])
        let error = await harness.answer().error
        #expect(error?.code == "hostRefused" && error?.stage == .certificate)
        #expect(error?.remedy.contains("HostPolicy") == true && harness.transport.requests.count == 1)
    }

    @Test func `a redirect loop ends`() async {
        let harness = Harness(post: [to("/license/abc")])
        let error = await harness.answer().error
        #expect(error?.code == "redirectRefused" && harness.posts.count == 6)
        #expect(error?.reason == "The service redirects more than 5 times.")
        let never = Harness(post: [to("/license/abc")]) { $0.redirectLimit = -1 }
        #expect(await never.answer().error?.code == "redirectRefused")
    }

    @Test func `an address keeps its escapes, and odd characters are escaped`() async {
        let harness = Harness(post: [to("/a%20b c|%zz?q=%41 x"), .ckc])
        #expect(await harness.answer().ckc == SampleBytes.ckc())
        #expect(
            harness.posts.last?.url?.absoluteString
                == "https://fairplay-license.vudrm.tech/a%20b%20c%7C%25zz?q=%41%20x")
    }

    @Test func `a redirect without an address is a service error`() async {
        #expect(await Harness(post: [.status(307)]).answer().error?.code == "redirected")
    }
}
