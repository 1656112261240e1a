import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTesting
import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct VendorIdentificationTests {
    /// A CKC that needs `+` and `/` in base64.
    private static let ckc = SampleBytes.ckc(0xfb)
    private static let ckcText = ckc.base64EncodedString()
    private let identification = VendorIdentification()

    private func profiles(_ matches: [VendorMatch]) -> [String] { matches.compactMap(\.profile) }

    private func vendor(of profile: String) -> String { VendorSample(profile: profile, keyURI: "").vendor }

    private func vendor(_ match: VendorMatch?) -> String { vendor(of: match?.profile ?? "") }

    @Test(arguments: VendorSample.distinctive.sorted { $0.key < $1.key })
    func `a key URI in the vendor's form names the vendor first, with the reason`(vendor: String, uri: KeyURI) throws {
        let matches = identification.identify(keyURI: uri)
        let first = try #require(matches.first)
        #expect(first.profile == vendor)
        #expect(first.confidence >= .likely)
        #expect(first.reasons.first?.isEmpty == false)
        #expect(matches == matches.sorted { $0.score > $1.score })
    }

    @Test(arguments: VendorSample.all)
    func `a profile's license request fits its vendor no worse than any other`(sample: VendorSample) async throws {
        let request = try await sample.licenseRequest()
        let matches = identification.identify(RecordedRequest(request))
        let best = try #require(matches.first)
        let own = try #require(matches.first { vendor($0) == sample.vendor })
        #expect(own.score == best.score, "\(best)")
    }

    /// Vendors whose requests have a unique feature.
    private static let named = VendorSample.all.filter { sample in
        !["generic", "apple-sample", "conax", "titanium", "gumlet", "jw-platform"].contains(sample.vendor)
            && !["expressplay-onpremise", "verimatrix-legacy"].contains(sample.profile)
    }

    @Test(arguments: named)
    func `a license request with vendor-specific content names the vendor first`(sample: VendorSample)
        async throws
    {
        let request = try await sample.licenseRequest()
        let best = try #require(identification.identify(RecordedRequest(request)).first)
        #expect(vendor(best) == sample.vendor, "\(best)")
        #expect(best.confidence >= .likely)
    }

    @Test(arguments: [
        ("x-vudrm-token", "vudrm-raw"), ("X-AxDRM-Message", "axinom"), ("pallycon-customdata-v2", "doverunner"),
        ("x-drm-usertoken", "cloud-drm"), ("nv-authorizations", "nagra"), ("customdata", "keyos-customdata"),
    ])
    func `a header field alone names the vendor at any host`(name: String, profile: String) {
        let request = RecordedRequest(
            method: "POST", url: "https://proxy.example/license",
            headers: [(name, "SECRET-VALUE"), ("Content-Type", "application/octet-stream")], body: SampleBytes.spc)
        let matches = identification.identify(request)
        #expect(vendor(matches.first) == vendor(of: profile))
        #expect(matches.first?.confidence == .certain)
    }

    @Test func `the body identifies one vendor's dialect`() {
        let headers = [("Content-Type", "application/json")]
        let json = RecordedRequest(
            method: "POST", url: "https://fairplay-license.vudrm.tech/license/demo", headers: headers,
            body: Data(#"{"token":"T","contentId":"demo","payload":"AAAA"}"#.utf8))
        #expect(profiles(identification.identify(json)).first == "vudrm")
        let raw = RecordedRequest(
            method: "POST", url: "https://fairplay-license.vudrm.tech/license/demo",
            headers: [("x-vudrm-token", "T"), ("Content-Type", "application/octet-stream")], body: SampleBytes.spc)
        #expect(profiles(identification.identify(raw)).first == "vudrm-raw")
    }

    @Test(arguments: [
        (200, [("x-dt-resp-code", "0")], "PGNrYz4=", "drmtoday"),
        (403, [("X-AxDRM-ErrorMessage", "bad signature")], "", "axinom"),
        (401, [], #"{"message":"MDRM-1002 malformed"}"#, "verimatrix"),
        (400, [], "<html>Error -2018</html>", "expressplay"),
        (200, [], #"{"errorCode":"7011","message":"expired"}"#, "doverunner"),
        (200, [], #"{"CkcMessage":"CKC","sessionToken":"S"}"#, "nagra"),
        (200, [], #"{"ckc":"CKC","persistence_duration":60}"#, "kaltura"),
        (200, [], #"{"getFairplayLicenseResponse":{"ckcResponse":"CKC"}}"#, "comcast"),
    ])
    func `a reply names the vendor by fields, codes and the place of the CKC`(
        status: Int, headers: [(String, String)], body: String, vendor: String
    ) {
        let body = body.replacing("\"CKC\"", with: "\"\(Self.ckcText)\"")
        let reply = HTTPReply(status: status, headers: headers.map { (name: $0.0, value: $0.1) }, body: Data(body.utf8))
        let best = identification.identify(reply).first
        #expect(self.vendor(best) == vendor)
        #expect((best?.confidence ?? .possible) >= .likely)
    }

    @Test(arguments: [
        (ckc, "vudrm"), (Data(Self.ckcText.utf8), "doverunner"),
        (Data("<ckc>\(Self.ckcText)</ckc>".utf8), "azure"),
        (Data(#"{"ckc":"\#(Self.ckcText)"}"#.utf8), "verimatrix"),
    ])
    func `a plain CKC fits many, and none for certain`(body: Data, among vendor: String) {
        let matches = identification.identify(HTTPReply(status: 200, body: body))
        #expect(profiles(matches).contains(vendor))
        #expect(matches.allSatisfy { $0.confidence == .possible })
    }

    @Test(arguments: ["skd://license.vdocipher.com/auth/fps/AAAA", "https://license.vdocipher.com/auth/fps/AAAA"])
    func `a vendor without a profile is named`(text: String) {
        let request = RecordedRequest(method: "POST", url: text)
        let matches =
            text.hasPrefix("skd") ? identification.identify(keyURI: KeyURI(text)) : identification.identify(request)
        #expect(matches.first?.vendor == "VdoCipher")
        #expect(matches.first?.profile == nil)
    }

    @Test(arguments: ["", "skd:", "skd://", "x", "data:,", "skd://\u{0}\u{1b}[2J", "skd://%zz?&&==&"])
    func `an odd key URI proves nothing`(text: String) {
        #expect(identification.identify(keyURI: KeyURI(text)).allSatisfy { $0.confidence == .possible })
    }

    @Test func `several observations outweigh one, each once`() throws {
        let uri = identification.identify(keyURI: "skd://fps.ezdrm.com/;297f600f-1234-1234-b060-2ac13cc42585")
        let request = identification.identify(
            RecordedRequest(
                method: "POST", url: "https://fps.ezdrm.com/api/licenses/1",
                headers: [("Content-Type", "application/octet-stream")], body: SampleBytes.spc))
        let both = VendorIdentification.combined([uri, request, request])
        let first = try #require(both.first)
        #expect(first.profile == "ezdrm")
        #expect(Set(first.evidence.map(\.sentence)).count == first.evidence.count)
        #expect(first.evidence.count > (request.first?.evidence.count ?? 0))
        #expect(first.score == 100)
    }

    @Test func `a customer's own profile is found by its values`() throws {
        var own = VendorProfile.genericJSON
        own.identifier = "acme"
        own.name = "Acme"
        own.license.headers = [.init("X-Acme-Ticket", .credential("token"))]
        let request = RecordedRequest(
            method: "POST", url: "https://keys.acme.example/", headers: [("x-acme-ticket", "T")],
            body: Data(#"{"spc":"AAAA"}"#.utf8))
        let matches = VendorIdentification(profiles: VendorProfile.all + [own]).identify(request)
        #expect(matches.first?.profile == "acme")
        #expect(matches.first?.vendor == "Acme")
    }

    @Test(arguments: VendorSample.all)
    func `no reason repeats a token or an SPC`(sample: VendorSample) async throws {
        let request = try await sample.licenseRequest(token: "SECRETTOKEN")
        let text = identification.identify(RecordedRequest(request)).flatMap(\.evidence).map(\.sentence).joined()
        for secret in ["SECRETTOKEN", SampleBytes.spc.base64EncodedString(), "movie-1", "AQAA"] {
            #expect(!text.contains(secret))
        }
    }
}
