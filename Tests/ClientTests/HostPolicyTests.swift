import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct HostPolicyTests {
    private func code(
        _ text: String, _ allowed: Set<HostPolicy.Host> = [], loopback: HostPolicy.LoopbackScheme = .asGiven,
        configured: [String] = []
    ) throws -> String? {
        let policy = HostPolicy(allowed: allowed, loopback: loopback)
        let url = policy.adapted(try #require(URL(string: text)))
        do throws(ContentKeyError) {
            try policy.check(url, configured: configured.compactMap { URL(string: $0) })
            return nil
        } catch { return error.code }
    }

    @Test(
        arguments: [
            ("https://a.example/p", "a.example", true), ("https://A.Example:443/", "a.example", true),
            ("https://a.example:8443/", "a.example", true), ("https://a.example:8443/", "A.EXAMPLE:8443", true),
            ("https://a.example/", "a.example:8443", false), ("https://a.example/", "a.example:443", true),
            ("https://b.a.example/", "a.example", false), ("https://b.a.example/", "*.a.example", true),
            ("https://c.b.a.example/", "*.a.example", true), ("https://a.example/", "*.a.example", false),
            ("https://evila.example/", "*.a.example", false), ("https://a.example.evil/", "*.a.example", false),
            ("https://b.a.example:1/", "*.a.example:1", true), ("https://b.a.example:2/", "*.a.example:1", false),
            ("https://a.example/", "*", false), ("https://a.example./", "a.example", false),
            ("https://[2001:db8::1]/", "[2001:db8::1]", true),
            ("https://[2001:db8::1]:8443/", "[2001:db8::1]:8443", true),
            ("https://[2001:db8::1]/", "2001:db8::1", true), ("https://[2001:db8::1]:1/", "[2001:db8::1]:2", false),
            ("https://user@a.example/", "a.example", true), ("https://a.example@evil.example/", "a.example", false),
            ("https://evil.example%2F.a.example/", "*.a.example", false),
            ("https://a.example/", "https://a.example", false),
            ("https://evil.example%23.a.example/", "*.a.example", false),
        ] as [(String, HostPolicy.Host, Bool)])
    func `an allowed host is matched by name and, if stated, port`(
        url: String, host: HostPolicy.Host, isAllowed: Bool
    ) throws {
        #expect(try (code(url, [host]) == nil) == isAllowed)
    }

    @Test(arguments: [
        ("http://a.example/", "insecureURL"), ("ftp://a.example/", "insecureURL"), ("skd://a.example/", "insecureURL"),
        ("file:///a.example", "insecureURL"), ("http://127.0.0.1/", nil), ("http://127.8.8.8:80/", nil),
        ("http://localhost:8080/", nil), ("http://[::1]:8080/", nil), ("http://128.0.0.1/", "insecureURL"),
        ("http://127.0.0.1.evil/", "insecureURL"), ("http://localhost.evil/", "insecureURL"),
        ("http://127.0.0/", "insecureURL"), ("http://127.0.0.256/", "insecureURL"), ("http://[::2]/", "insecureURL"),
    ])
    func `only loopback gets plain http`(url: String, expected: String?) throws {
        let hosts: Set<HostPolicy.Host> = [
            "a.example", "127.0.0.1", "127.8.8.8", "localhost", "::1", "128.0.0.1", "127.0.0.1.evil", "localhost.evil",
        ]
        #expect(try code(url, hosts) == expected)
    }

    @Test(arguments: [
        ("https://a.example/other/path", nil), ("https://A.example:443/", nil),
        ("https://a.example:444/", "hostRefused"),
        ("https://b.example:8443/x", nil), ("https://b.example/", "hostRefused"), ("https://c.example/", "hostRefused"),
        ("http://a.example/", "insecureURL"), ("http://127.0.0.1:8080/", nil),
        ("http://127.0.0.1:8081/", "hostRefused"),
    ])
    func `configured origins are allowed with their port`(url: String, expected: String?) throws {
        let configured = ["https://a.example/cert", "https://b.example:8443/", "http://127.0.0.1:8080/c"]
        #expect(try code(url, configured: configured) == expected)
    }

    @Test func `https becomes http on loopback at the app's request`() throws {
        let policy = HostPolicy(loopback: .http)
        let table = [
            "https://127.0.0.1:8080/a%20b?q=%2F": "http://127.0.0.1:8080/a%20b?q=%2F",
            "https://[::1]:1/": "http://[::1]:1/", "https://a.example/": "https://a.example/",
            "http://localhost/": "http://localhost/",
        ]
        for (url, expected) in table {
            #expect(policy.adapted(try #require(URL(string: url))).absoluteString == expected)
        }
        #expect(
            try code("https://127.0.0.1:8080/", loopback: .http, configured: ["https://127.0.0.1:8080/c"]) == nil)
        #expect(try code("https://127.0.0.1:8080/", ["127.0.0.1:8080"], loopback: .http) == nil)
    }

    @Test(arguments: [
        ("skd://4376a4b3-0d0c-4f1e-9c5a-1f2e3d4c5b6a", true), ("skd://movie-1", true), ("skd://MOVIE/1?x=y", true),
        ("skd://cdn.example/license/abc", false), ("skd://[::1]:9/license", false),
    ])
    func `an identifier used as a host is reported as one`(uri: String, isIdentifier: Bool) async {
        let error = await Harness().answer(FakeKeyRequest(KeyURI(uri))).error
        #expect(error?.code == "hostRefused", "\(error?.description ?? "none")")
        #expect(error?.reason.contains("looks like an identifier") == isIdentifier)
        #expect(error?.reason.hasPrefix("The playlist's key URI gave the host ") == true)
    }

    @Test func `a host named only by the playlist gets nothing`() async {
        let harness = Harness()
        let error = await harness.answer(FakeKeyRequest("skd://cdn.example/license/abc")).error
        #expect(error?.code == "hostRefused" && error?.stage == .license)
        #expect(
            error?.reason == "The playlist's key URI gave the host cdn.example:443, which was not configured.")
        #expect(error?.remedy.contains("Allow") == false)
        #expect(harness.posts.isEmpty)
        let allowing = Harness { $0.hosts.allowed = ["cdn.example"] }
        #expect(await allowing.answer(FakeKeyRequest("skd://cdn.example/license/abc")).ckc == SampleBytes.ckc())
    }

    @Test func `an insecure certificate address is refused without showing its query`() async {
        let profile = VendorProfile.raw.setting("certificateURL", to: "http://a.example/c?k=SECRET")
        let error = await Harness(profile.unchecked).answer().error
        #expect(error?.code == "insecureURL" && error?.stage == .certificate)
        #expect(error?.reason == #"The setting "certificateURL" holds a URL on a.example, which is not https."#)
    }
}
