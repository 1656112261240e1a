import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// `latchkey doctor --har`: recordings of people's trouble, rebuilt with made-up names. `Documentation/Players.md` and the threads that
/// the names say have the originals.
///
/// Longer than other files, because it is one log of cases, which is read from top to bottom.
@Suite(.timeLimit(.minutes(3))) struct TrafficDiagnosisTests {
    private typealias Traffic = RecordedTraffic

    private static var start: Traffic { Traffic() }
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"
    private static let octets = ["Content-Type": "application/octet-stream"]
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

    private func expect(
        _ run: RecordedRun, _ cause: String?, _ words: String..., location: SourceLocation = #_sourceLocation
    ) {
        #expect(run.status == .no && run.verdict == "wrong", "\(run.output)\(run.error)", sourceLocation: location)
        #expect(run.cause == cause, "\(run.output)", sourceLocation: location)
        for word in words { #expect(run.output.contains(word), "\(word): \(run.output)", sourceLocation: location) }
    }

    private static func percent(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    @Test(arguments: [["doctor", "--har"], ["vendors", "identify"]])
    func `a body is recognized once for all profiles and checks`(verb: [String]) async throws {
        var random = SeededGenerator(seed: 7)
        let noise = Data(random.bytes(3_000))
        func recognized(_ pieces: Int) async throws -> Int {
            let start = try await Self.start.playlist().certificate().license("https://a.example/x")
            let traffic = (0..<pieces).reduce(start) {
                $0.adding(
                    "POST", "https://api.example.com/beacon?n=\($1)", [:], .text(#"{"at":\#($1)}"#), status: 200, [:],
                    .text("{}")
                ).adding(
                    "GET", "https://cdn.example.com/\($1).m4s", status: 200, [:],
                    .base64(noise))
            }
            let count = Locked(0)
            _ = try await Recognition.$count.withValue(count) { try await traffic.diagnosed(by: verb) }
            return count.withLock { $0 }
        }
        let few = try await recognized(4)
        #expect(try await recognized(24) - few == 60, "a beacon, its reply and a segment, twenty times")
        #expect(16...40 ~= few, "a playlist, a certificate and a license, which are judged, too: \(few)")
    }

    // B1: a refusal is never passed over.

    @Test(arguments: [true, false])
    func `a refused raw SPC at a plain address is a refused license (h17, h17b)`(hasCertificate: Bool)
        async throws
    {
        let before = hasCertificate ? try await Self.start.certificate() : Self.start
        let run = try await before.license(
            "https://api.example.com/v1/acquire", ["Authorization": "Bearer \(Self.token)"], status: 403,
            .text(#"{"message":"subscription ended"}"#)
        ).diagnosed()
        expect(run, "forbidden", "subscription ended", "Seen in request \(hasCertificate ? 2 : 1)")
        #expect(!run.output.contains(Self.token))
    }

    @Test func `a form that was percent-encoded whole, and an empty 200 (h01, shaka#4141)`() async throws {
        let spc = try await Traffic.parts.spc.base64EncodedString()
        let run = try await Self.start.certificate().adding(
            "POST", "https://drm.example.com/drmProxy/1?keyid=A1B2C3&deviceid=D1", Self.form,
            .text("spc%3D\(Self.percent(spc))"), status: 200, ["Content-Type": "application/json"], .text("")
        ).diagnosed()
        expect(
            run, "encodedTwice", "answered 200 and nothing", "the whole body",
            "Seen in request 2; nothing else was wrong before it.")
    }

    @Test func `a stream with keys and a certificate but no license request (h15, video.js#8748)`() async throws {
        expect(try await Self.start.playlist().certificate().diagnosed(), "licenseNotAsked")
        expect(try await Self.start.playlist().certificate().diagnosed("--vendor", "generic-raw"), "licenseNotAsked")
    }

    @Test(arguments: [
        ("GET", "https://a.example/x"), ("POST", "https://a.example/collect"), ("OPTIONS", "https://a.example/fps"),
    ])
    func `traffic without keys gives no verdict on them`(method: String, url: String) async throws {
        let run = try await Self.start.adding(method, url, [:], .text("hello"), status: 200, [:], .text("hello"))
            .diagnosed()
        #expect(run.status == .unknown && run.verdict == "unknown" && run.cause == nil, "\(run.output)\(run.error)")
    }

    @Test func `any form of an SPC makes a license request, whatever the address`() async throws {
        let spc = try await Traffic.parts.spc
        let base64 = spc.base64EncodedString()
        let bodies: [Traffic.Body] = [
            .text(base64), .text("spc=\(Self.percent(base64))&assetId=a"), .text(#"{"challenge":"\#(base64)"}"#),
            .characters(spc),
            .text("--b\r\nContent-Disposition: form-data; name=\"spc\"\r\n\r\n\(base64)\r\n--b--\r\n"),
        ]
        for body in bodies {
            let run = try await Self.start.adding("POST", "https://a.example/x", [:], body, status: 451).diagnosed()
            expect(run, "regionDenied")
        }
    }

    // M1: each request is held against the profile.

    @Test func `a form sent as octet-stream is the cause, even without a vendor (h02, rnv#3213)`() async throws {
        let spc = try await Traffic.parts.spc.base64EncodedString()
        let run = try await Self.start.certificate().adding(
            "POST", "https://lic.example.com/fairplay", Self.octets.merging(["entitlementtoken": Self.token]) { $1 },
            .text("spc=\(spc)"), status: 500, ["Content-Type": "text/html"], .text("<html><body>500</body></html>")
        ).diagnosed()
        expect(run, "contentTypeWrong", "application/octet-stream", "a form whose field “spc”", "Seen in request 2")
    }

    @Test func `Comcast's JSON at ExpressPlay is named (h04, rnv#2367)`() async throws {
        let spc = try await Traffic.parts.spc.base64EncodedString()
        let run = try await Self.start.certificate().adding(
            "POST", "https://fp.service.expressplay.com/hms/fp/rights/?ExpressPlayToken=AAAA", Self.octets,
            .text(#"{"getFairplayLicense":{"spcMessage":"\#(spc)"}}"#), status: 403, ["Content-Type": "text/html"],
            .text("")
        ).diagnosed()
        expect(run, "bodyFormWrong", "ExpressPlay answered 403", "takes the SPC's bytes", "spcMessage")
    }

    @Test func `EZDRM's base64 text is the first difference`() async throws {
        let spc = try await Traffic.parts.spc.base64EncodedString()
        let traffic = try await Self.start.playlist("skd://fps.ezdrm.com/;00112233-4455-6677-8899-aabbccddeeff")
            .certificate()
            .adding(
                "POST", "https://fps.ezdrm.com/api/licenses/00112233-4455-6677-8899-aabbccddeeff", Self.octets,
                .text(spc),
                status: 500, [:], .text("Unable to parse SPC"))
        let run = try await traffic.diagnosed("--vendor", "ezdrm")
        expect(run, "bodyFormWrong")
        #expect(
            run.causeReason
                == "refused. EZDRM answered 500 \"Unable to parse SPC\": the body is base64 text, and EZDRM takes the SPC's bytes. Seen in request 3; nothing else was wrong before it."
        )
    }

    @Test func `without the stream's keys no path is blamed`() async throws {
        let spc = try await Traffic.parts.spc
        let run = try await Self.start.adding(
            "POST", "https://fps.ezdrm.com/api/licenses/7", Self.octets, .base64(spc), status: 500, [:],
            .text("Unable to parse SPC")
        ).diagnosed("--vendor", "ezdrm")
        #expect(run.status == .no)
        #expect(run.output.contains("Unable to parse SPC") && !run.output.contains("the path is"))
    }

    /// The request to a vendor, and the one difference.
    struct Difference: Sendable, CustomTestStringConvertible {
        let vendor, url, type, code: String
        var headers: [String: String] = [:]
        var method = "POST"
        let body: @Sendable (Data) -> RecordedTraffic.Body
        var testDescription: String { "\(vendor), \(code)" }
    }

    static let differences = [
        Difference(
            vendor: "vudrm", url: "https://fairplay-license.vudrm.tech/license/a", type: "application/json",
            code: "bodyFormWrong"
        ) {
            .text(#"{"contentId":"a","spc":"\#($0.base64EncodedString())","token":"t"}"#)
        },
        Difference(
            vendor: "vudrm", url: "https://fairplay-license.vudrm.tech/license/a", type: "application/json",
            code: "tokenMissing"
        ) {
            .text(#"{"contentId":"a","payload":"\#($0.base64EncodedString())"}"#)
        },
        Difference(
            vendor: "vudrm", url: "https://fairplay-license.vudrm.tech/license/a", type: "text/html",
            code: "contentTypeWrong"
        ) {
            .text(#"{"contentId":"a","payload":"\#($0.base64EncodedString())","token":"t"}"#)
        },
        Difference(
            vendor: "doverunner", url: "https://drm-license.doverunner.com/ri/licenseManager.do",
            type: "application/x-www-form-urlencoded", code: "plusNotEncoded",
            headers: ["pallycon-customdata-v2": "e30="]
        ) {
            .text("spc=+\($0.base64EncodedString())".replacing("=+", with: "="))
        },
        Difference(
            vendor: "doverunner", url: "https://drm-license.doverunner.com/ri/licenseManager.do",
            type: "application/x-www-form-urlencoded", code: "headerMissing", headers: ["Authorization": "Bearer e30="]
        ) {
            .text("spc=\(percent($0.base64EncodedString()))")
        },
        Difference(
            vendor: "ezdrm", url: "https://fps.ezdrm.com/api/licenses/a", type: "application/octet-stream",
            code: "methodWrong", method: "PUT"
        ) {
            .base64($0)
        },
        Difference(vendor: "generic-base64", url: "https://a.example/l", type: "text/plain", code: "alphabetWrong") {
            .text($0.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_"))
        },
        Difference(
            vendor: "generic-raw", url: "https://a.example/l", type: "application/octet-stream",
            code: "spcIsHexadecimal"
        ) {
            .text($0.hexString)
        },
        Difference(vendor: "generic-base64", url: "https://a.example/l", type: "text/plain", code: "encodedTwice") {
            .text(Data($0.base64EncodedString().utf8).base64EncodedString())
        },
        Difference(
            vendor: "generic-raw", url: "https://a.example/l", type: "application/octet-stream", code: "spcIsCutShort"
        ) {
            .base64($0.dropLast(40))
        },
        Difference(
            vendor: "generic-raw", url: "https://a.example/l", type: "application/octet-stream", code: "spcIsReadAsText"
        ) {
            .text(String(decoding: $0, as: UTF8.self))
        },
        Difference(
            vendor: "generic-raw", url: "https://a.example/fps", type: "application/octet-stream", code: "spcMissing"
        ) { _ in .text("") },
        Difference(
            vendor: "generic-form", url: "https://a.example/fps", type: "application/x-www-form-urlencoded",
            code: "placeholderSent"
        ) {
            .text("spc=\(percent($0.base64EncodedString()))&assetId=undefined")
        },
    ]

    @Test(arguments: differences)
    func `a request that differs from its profile is the refusal's cause`(_ difference: Difference)
        async throws
    {
        let spc = try await Traffic.parts.spc
        let run = try await Self.start.certificate().adding(
            difference.method, difference.url, difference.headers.merging(["Content-Type": difference.type]) { $1 },
            difference.body(spc), status: 400, [:], .text("Bad Request")
        ).diagnosed("--vendor", difference.vendor)
        expect(run, difference.code, "Seen in request 2")
        #expect(!run.output.contains(spc.base64EncodedString().prefix(40)))
    }

    @Test func `a certificate in the SPC's place is named`() async throws {
        let certificate = try await Traffic.parts.certificate
        let run = try await Self.start.certificate().adding(
            "POST", "https://a.example/fps", Self.octets, .base64(certificate), status: 400
        ).diagnosed()
        expect(run, "spcIsCertificate", "a certificate in the SPC's place")
    }

    @Test func `a harmless difference is ignored`() async throws {
        let traffic = try await Self.start.playlist().certificate().license(
            "https://a.example/l", ["Content-Type": "text/plain"])
        let run = try await traffic.diagnosed("--vendor", "generic-raw", "--set", "licenseURL=https://a.example/other")
        #expect(run.status == .yes && run.verdict == "right" && run.cause == nil, "\(run.output)")
    }

    @Test func `a token that had expired when sent is the cause`() async throws {
        let claims = Data(#"{"exp":1500000000,"iss":"i","aud":"a"}"#.utf8).base64EncodedString().prefix { $0 != "=" }
        let spc = try await Traffic.parts.spc
        let run = try await Self.start.certificate().adding(
            "POST", "https://a.la.drm.cloud/acquire-license/fairplay?brandGuid=b",
            [
                "Content-Type": "application/octet-stream", "x-drm-brandGuid": "b",
                "x-drm-usertoken": "eyJhbGciOiJIUzI1NiJ9.\(claims).c2ln",
            ],
            .base64(spc), status: 403, date: "2026-11-25T08:00:00.000Z"
        ).diagnosed()
        expect(run, "expired", "It was sent in request 2.")
    }

    // M2: certificates are found by place and by content.

    @Test func `DoveRunner's base64 certificate and form are shown as good (h12)`() async throws {
        let parts = try await Traffic.parts
        let run = try await Self.start.adding(
            "GET", "https://license.pallycon.com/ri/fpsKeyManager.do?siteId=ABCD", status: 200,
            ["Content-Type": "text/plain"],
            .text(parts.certificate.base64EncodedString())
        ).adding(
            "POST", "https://license-global.pallycon.com/ri/licenseManager.do",
            Self.form.merging(["pallycon-customdata-v2": "eyJkcm1fdHlwZSI6IkZhaXJQbGF5In0="]) { $1 },
            .text("spc=\(Self.percent(parts.spc.base64EncodedString()))"), status: 200, [:],
            .text(parts.ckc.base64EncodedString())
        ).diagnosed()
        // The playlist is missing, and nothing is wrong.
        #expect(run.status == .unknown && run.cause == nil, "\(run.output)\(run.error)")
        #expect(run.output.contains("no playlist") && run.output.contains("a CKC came"))
        let checks = run.json["checks"] as? [[String: String]] ?? []
        #expect(checks.contains { $0["step"] == "certificate" && $0["result"] == "ok" })
    }

    @Test func `a refusal in the certificate's place is shown (h09, Ant-Media#7626)`() async throws {
        let run = try await Self.start.adding(
            "GET", "https://license.pallycon.com/ri/fpsKeyManager.do?siteId=ABCD", status: 200,
            ["Content-Type": "application/json"],
            .text(#"{"errorCode":"7301","message":"no FairPlay certificate for the site"}"#)
        ).diagnosed()
        expect(run, "notFound", "7301", "no FairPlay certificate for the site")
    }

    @Test func `a certificate is checked, however many came before it`() async throws {
        var traffic = Self.start
        for _ in 0..<9 { traffic = try await traffic.certificate() }
        let run = try await traffic.adding(
            "GET", "https://fp.example.com/fairplay.cer", status: 403, [:], .text("no")
        ).diagnosed()
        #expect(run.status == .no && run.verdict == "wrong")
    }

    @Test func `a certificate on the second try, with a token, is fine; a refusal after a good one is a fault`()
        async throws
    {
        let url = "https://fp.example.com/fairplay.cer"
        let refused = Self.start.playlist().adding("GET", url, status: 401, [:], .text("no"))
        let run = try await refused.certificate(url).license("https://a.example/l").diagnosed()
        #expect(run.status == .yes && run.cause == "unauthenticated", "\(run.output)")
        let later = try await Self.start.playlist().certificate(url).adding("GET", url, status: 401, [:], .text("no"))
            .license("https://a.example/l").diagnosed()
        #expect(later.status == .no, "\(later.output)")
    }

    @Test func `a certificate behind a byte order mark is named (h07, contrib-eme#186)`() async throws {
        let certificate = try await Traffic.parts.certificate.base64EncodedString()
        let run = try await Self.start.adding(
            "GET", "https://site.example.com/fps_cert.php", status: 200, ["Content-Type": "text/html; charset=UTF-8"],
            .base64(Data("\u{feff}\(certificate)".utf8))
        ).license("https://lic.example.com/fps", status: 500, .text("certificate not found")).diagnosed()
        expect(run, "certificateMalformed", "base64 text of a certificate", "byte order mark")
    }

    @Test(arguments: [
        ("a JSON member", "JSON whose member “cert”"), ("numbers", "a list of numbers"),
        ("a data URI", "a data: URI of a certificate"),
    ])
    func `a certificate in an unreadable encoding is named`(dress: String, words: String) async throws {
        let certificate = try await Traffic.parts.certificate
        let base64 = certificate.base64EncodedString()
        let text =
            switch dress {
            case "numbers": certificate.map { "\($0)" }.joined(separator: ",")
            case "a data URI": "data:application/x-x509-ca-cert;base64,\(base64)"
            default: #"{"cert":"\#(base64)"}"#
            }
        let run = try await Self.start.adding("GET", "https://a.example/c", status: 200, [:], .text(text)).diagnosed()
        expect(run, "certificateMalformed", words)
    }

    @Test func `a page in the certificate's place is named`() async throws {
        let run = try await Self.start.adding(
            "GET", "https://fairplay-license.vudrm.tech/certificate/demo", status: 200, [:], .text("<html></html>")
        ).diagnosed("--vendor", "vudrm")
        expect(run, "certificateMalformed", "an HTML page")
    }

    // m3, m5, m9, m10.

    @Test func `an echoed SPC is reported without an absurd length (k09)`() async throws {
        let spc = try await Traffic.parts.spc
        let run = try await Self.start.certificate().license("https://echo.example/fps", status: 200, .base64(spc))
            .diagnosed()
        expect(run, "licenseIsSPC", "the same as in the request")
        #expect(!run.output.contains("cut off"))
    }

    @Test func `Mux's words are kept (l03)`() async throws {
        let run = try await Self.start.certificate().license(
            "https://license.mux.com/license/fairplay/a?token=\(Self.token)", status: 403,
            .text(#"{"error":{"type":"unauthorized","messages":["no policy allows the playback"]}}"#)
        ).diagnosed()
        expect(run, run.cause, "no policy allows the playback")
    }

    @Test func `Cloud DRM is known by its query, and a script's missing value is named (h05, hls.js#6865)`()
        async throws
    {
        let url =
            "https://drm.example.com/fairplay?brandGuid=00112233-4455-6677-8899-aabbccddeeff&userToken=undefined&KID="
        let run = try await Self.start.certificate().license(
            url, status: 403,
            .text(#"{"code":"drm_3036","status":403,"message":"UserToken not valid","requestId":"r-1"}"#)
        ).diagnosed()
        expect(run, "placeholderSent", "Cloud DRM", "userToken", "UserToken not valid")
    }

    @Test(arguments: [
        ("https://lic.example.com/fps?BrandGuid=b&KID=k", ["x-drm-usertoken": "undefined"], "Cloud DRM"),
        ("https://proxy.example.com/drm?ExpressPlayToken=null", [:], "ExpressPlay"),
        ("https://proxy.example.com/drm", ["x-axdrm-message": "[object Object]"], "Axinom"),
    ])
    func `a vendor behind another host is known by query and header fields (m9)`(
        url: String, headers: [String: String], vendor: String
    ) async throws {
        let run = try await Self.start.certificate().license(url, headers, status: 403, .text("{}")).diagnosed()
        expect(run, "placeholderSent", vendor, "Seen in request 2")
    }

    @Test func `without a vendor all vendors' checks run (h10, bitmovin#119)`() async throws {
        let run = try await Self.start.certificate().license(
            "https://lic.example.com/fairplay", ["preauthorization": Self.token], status: 401, .text("")
        ).diagnosed()
        expect(run, "unauthenticated", "Seen in request 2")
        #expect(!run.output.contains(Self.token))
    }

    @Test func `Azure's token refusal is named (h06, shaka#4447)`() async throws {
        let spc = try await Traffic.parts.spc.base64EncodedString()
        let run = try await Self.start.certificate().adding(
            "POST", "https://nexx1.keydelivery.westeurope.media.azure.net/FairPlay/", Self.form, .text("spc=\(spc)"),
            status: 401, ["Content-Type": "application/json"],
            .text(#"{"Error":{"Message":"Failed to validate token. IDX10503: Signature validation failed."}}"#)
        ).diagnosed()
        expect(run, "unauthenticated", "Signature validation failed")
    }

    @Test(arguments: [
        ["skd://license.example.my/licenseServer/streaming/v1/xyz/getckc?contentId=movie-1"],  // h08
        Array(repeating: "skd://drmtoday?assetId=movie-1", count: 20),  // h11
        ["skd:movie"], ["SKD://a.example/b?token=hunter2hunter2"],
    ])
    func `a key URI loaded as a file is named once`(urls: [String]) async throws {
        let run = try await urls.reduce(Self.start) { $0.adding("GET", $1, status: 0) }.diagnosed()
        expect(run, "keyLoadedAsFile", urls.count > 1 ? "\(urls.count) times" : "as a file")
        #expect(run.output.components(separatedBy: "keyLoadedAsFile").count <= 3 && !run.output.contains("hunter2"))
    }

    // An all-clear.

    private static func good() async throws -> Traffic {
        try await start.playlist().certificate().license("https://a.example/l")
    }

    @Test func `an all-clear lists its checks and those a capture cannot make`() async throws {
        let run = try await Self.good().diagnosed()
        #expect(run.status == .yes && run.verdict == "right" && run.json["healthy"] as? Bool == true, "\(run.output)")
        let folder = try TemporaryFolder()
        let log: [String: Any] = ["log": ["version": "1.2", "entries": try await Self.good().entries]]
        try JSONSerialization.data(withJSONObject: log).write(to: folder.file("a.har"))
        let told = await RecordedRun("doctor", "--har", folder.path("a.har"))
        #expect(told.output.hasPrefix("Nothing is wrong. Not looked at: media, clock."), "\(told.output)")
    }

    @Test(arguments: 0..<3)
    func `an incomplete capture is not right`(index: Int) async throws {
        var entries = try await Self.good().entries
        entries.remove(at: index)
        let run = try await Traffic(entries: entries).diagnosed()
        #expect(run.status != .yes && run.verdict != "right", "\(run.output)")
    }

    @Test(arguments: 0..<3, ["reply", "request", "cut", "lossy"])
    func `a body that the capture lacks is named; nothing is right`(index: Int, way: String) async throws {
        var entries = try await Self.good().entries
        guard way != "request" || index == 2 else { return }
        func edit(_ part: String, _ member: String, _ change: (inout [String: Any]) -> Void) {
            var half = entries[index][part] as? [String: Any] ?? [:]
            var body = half[member] as? [String: Any] ?? [:]
            change(&body)
            half[member] = body
            entries[index][part] = half
        }
        switch way {
        case "reply": edit("response", "content") { $0["text"] = nil }
        case "request": edit("request", "postData") { $0["text"] = nil }
        // More than base64 adds: some recorders state the length of the text.
        case "cut": edit("response", "content") { $0["size"] = ($0["size"] as? Int ?? 0) + 5_000 }
        default:
            let bytes = index == 1 ? try await Traffic.parts.certificate : try await Traffic.parts.ckc
            guard index > 0 else { return }
            edit("response", "content") {
                $0["text"] = String(decoding: bytes, as: UTF8.self)
                $0["encoding"] = nil
            }
        }
        let run = try await Traffic(entries: entries).diagnosed()
        #expect(run.status == .unknown && run.cause == nil, "\(run.output)")
        #expect(run.output.contains("in the capture"))
    }

    @Test func `a latchkey trace, without bodies, gives no all-clear`() async throws {
        let size = 900
        let run = try await Self.start.adding("GET", "https://a.example/m.m3u8", status: 200, [:], .absent(size))
            .adding("GET", "https://a.example/fairplay.cer", status: 200, [:], .absent(size))
            .adding("POST", "https://a.example/license", [:], .absent(size), status: 200, [:], .absent(size))
            .diagnosed()
        #expect(run.status == .unknown && run.cause == nil, "\(run.output)")
    }

    @Test func `bytes recorded as characters are read`() async throws {
        let parts = try await Traffic.parts
        let run = try await Self.start.playlist().adding(
            "GET", "https://a.example/c", status: 200, [:], .characters(parts.certificate)
        ).adding(
            "POST", "https://a.example/l", Self.octets, .characters(parts.spc), status: 200, [:], .characters(parts.ckc)
        )
        .diagnosed()
        #expect(run.status == .yes, "\(run.output)")
    }

    @Test func `a refusal fixed by a fresh request is a warning; with another key open it is an error`() async throws {
        let refused = try await Self.start.playlist().certificate().license(
            "https://a.example/l", status: 401, .text("{}"))
        let mended = try await refused.license("https://a.example/l").diagnosed()
        #expect(mended.status == .yes && mended.cause == "unauthenticated", "\(mended.output)")
        let twoKeys = try await refused.playlist("skd://movie-2", "https://cdn.example.com/v/w.m3u8")
            .license("https://a.example/l").diagnosed()
        expect(twoKeys, "unauthenticated")
    }

    @Test func `a followed redirect is not counted as an exchange`() async throws {
        let traffic = try await Self.start.playlist().adding(
            "GET", "https://a.example/fairplay.cer", status: 302, ["location": "https://b.example/fairplay.cer"]
        ).certificate("https://b.example/fairplay.cer").license("https://a.example/l")
        let run = try await traffic.diagnosed()
        #expect(run.status == .yes, "\(run.output)")
    }

    @Test func `an SPC for a different certificate is named`() async throws {
        let files = try LicenseFiles()
        await files.credentials("other")
        let other = try #require(files.folder.contents("other/certificate.der"))
        let run = try await Self.start.adding("GET", "https://a.example/c", status: 200, [:], .base64(other))
            .license("https://a.example/l", status: 500, .text("SPC")).diagnosed()
        expect(run, "spcForOtherCertificate", " ≠ ")
    }

    @Test func `a missing reply is named`() async throws {
        let run = try await Self.start.license("https://a.example/l", status: 0).diagnosed("--vendor", "vudrm")
        expect(run, "noReplyCaptured")
    }

    // The option.

    @Test(arguments: [["p.m3u8"], ["--spc", "s"], ["--licenses", "2"], ["--samples", "2"], ["--trace", "t.html"]])
    func `it excludes options that query a server`(_ words: [String]) async throws {
        let run = await RecordedRun(["doctor", "--har", "s.har", "--vendor", "vudrm"] + words, tool: .standard)
        #expect(run.status == .usage)
        let option = words.first { $0.hasPrefix("--") } ?? "PLAYLIST"
        #expect(run.error.contains(option), "\(run.error)")
    }

    @Test func `a stranger's capture is refused with its place, however deep`() async throws {
        let folder = try TemporaryFolder()
        for text in [String(repeating: "{\"log\":", count: 20_000), "{\"log\":{\"entries\":[7]}}"] {
            try Data(text.utf8).write(to: folder.file("deep.har"))
            let run = await RecordedRun(
                ["doctor", "--har", folder.path("deep.har"), "--vendor", "vudrm", "--json"], tool: .standard)
            #expect(run.status == .no && run.errorCode == "captureMalformed")
        }
    }

    @Test(arguments: [
        "hello", "#EXTM3U", "[]", "", "{}", #"{"log":7}"#, #"{"log":{"entries":{}}}"#, #"{"keys":[]}"#,
    ])
    func `a non-archive is refused with the accepted formats`(_ text: String) async throws {
        let folder = try TemporaryFolder()
        try Data(text.utf8).write(to: folder.file("wrong.har"))
        let run = await RecordedRun(["doctor", "--har", folder.path("wrong.har")], tool: .standard)
        let remedy =
            "Give --har a HAR 1.2 file, with bodies, as a browser's developer tools, Charles or mitmproxy write it."
        #expect(run.status == .no && run.output.isEmpty)
        #expect(run.error.contains("HAR file") && run.error.contains(remedy), "\(run.error)")
        #expect(!run.error.contains("playlist") && !run.error.contains("curl"))
    }
}
