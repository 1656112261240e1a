import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeySupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// 10,000 secrets in every place where an app, a vendor or a CDN may put one: none is in a bundle.
@Suite(.timeLimit(.minutes(5))) struct SupportSecrecyTests {
    private static let bundles = 20
    private static let exchangesEach = 25
    private static let secretsEach = 20

    /// Every second one in hexadecimal, the others in base64 with all of its alphabet.
    private static func secrets(_ exchange: Int) -> [String] {
        var generator = SeededGenerator(seed: UInt64(exchange) &* 104_729 &+ 3)
        return (0..<secretsEach).map { index in
            let bytes = Data(generator.bytes(18))
            return index.isMultiple(of: 2) ? bytes.hexString : bytes.base64EncodedString()
        }
    }

    private static func jwt(_ secret: String) -> String {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        return [part("{\"alg\":\"HS256\"}"), part("{\"sub\":\"\(secret)\",\"exp\":1}"), part(secret)].joined(
            separator: ".")
    }

    private static func reply(to request: URLRequest, _ number: Int) -> FakeTransport.Step {
        let planted = secrets(number)
        let fields: [(name: String, value: String)] = [
            ("Set-Cookie", "session=\(planted[2]); Path=/"), ("X-Anything", planted[3]),
            ("X-Request-Id", "r-\(number)"),
            ("WWW-Authenticate", "Bearer realm=\"\(planted[4])\""),
            ("Content-Type", "application/json; token=\(planted[5])"), ("X-Error-Code", planted[1]),
            ("X-Error-Message", "no \(planted[10])"), ("Link", "<https://a.example/\(planted[11])>"),
            ("ETag", "\"\(planted[18])\""), ("Server", planted[19]), ("X-\(planted[0])", planted[8] + planted[9]),
        ]
        let bodies = [
            "{\"message\":\"The token \(planted[6]) is not for \(planted[7]).\",\"session\":\"\(planted[8])\"}",
            "{\"error\":{\"code\":\"\(planted[6])\",\"message\":\"\(planted[7])\"},\"list\":[[\"\(planted[8])\"]],\"\(planted[9])\":1}",
            "<html><head><title>No: \(planted[6])</title></head><body><a href='https://a.example/?x=\(planted[7])'>\(planted[8])</a></body></html>",
            "access_token=\(planted[6])&id=\(planted[7])\nsecret: \(planted[8])",
            "{\"ckc\":\"\((SampleBytes.ckc() + Data(planted[6].utf8)).base64EncodedString())\",\"license\":\"\(jwt(planted[7]))\"}",
        ]
        if number % 7 == 3 {
            let target =
                "https://u:\(planted[6])@elsewhere.example/\(planted[0])/hdnts=\(planted[8])?s=\(planted[7])#\(planted[9].percentEncoded)"
            return .status(307, fields + [("Location", target)])
        }
        let body = Data(bodies[number % bodies.count].utf8)
        if number % 11 == 5 {
            let ckc = SampleBytes.ckc() + (Data(hexString: planted[6]) ?? Data())
            return .reply(HTTPReply(status: 200, headers: fields, body: ckc))
        }
        return .reply(HTTPReply(status: number % 2 == 0 ? 403 : 200, headers: fields, body: body))
    }

    private static func bundle(_ index: Int) async throws -> Data {
        let current = Locked(index * exchangesEach)
        let first = secrets(index * exchangesEach)
        let vendor = VendorProfile.vuDRM.with([
            "certificateURL":
                "https://user:\(first[10])@fairplay-license.vudrm.tech/certificate/demo?sig=\(first[11].percentEncoded)"
        ]).unchecked
        let harness = RecordedLoader(
            vendor,
            over: FakeTransport { request, _ in
                request.httpMethod == "POST"
                    ? reply(to: request, current.withLock { $0 }) : .ok(SampleBytes.certificate)
            },
            credentials: Credentials { _ in
                let number = current.withLock { $0 }
                let planted = secrets(number)
                return .token(
                    number.isMultiple(of: 2)
                        ? jwt(planted[12]) : "demo|2026-01-02T03:04:05Z|\(planted[12])|\(planted[13])")
            })
        for number in index * exchangesEach..<(index + 1) * exchangesEach {
            current.withLock { $0 = number }
            let planted = secrets(number)
            let uri =
                "skd://fairplay-license.vudrm.tech/license/abc;sig=\(planted[14].percentEncoded)?auth=\(planted[14].percentEncoded)&x=\(planted[15].percentEncoded)#\(planted[14])"
            _ = await harness.answer(
                FakeKeyRequest(KeyURI(uri)) { Data((planted[16] + String(repeating: planted[17], count: 20)).utf8) })
        }
        let playlist =
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"https://k.example/k?t=\(first[18].percentEncoded)\"\n#EXTINF:6,\(first[19])\ns.ts\n"
        return try harness.loader.supportBundle(
            of: URL(
                string:
                    "https://u:\(first[18].percentEncoded)@cdn.example/hdntl=exp=1~hmac=\(first[2].percentEncoded)/\(first[6])/m.m3u8;sig=\(first[4].percentEncoded)?hdnts=\(first[19].percentEncoded)#access_token=\(first[8].percentEncoded)"
            ),
            playlists: [URL(filePath: "/m.m3u8"): Data(playlist.utf8)])
    }

    @Test func `no form of 10,000 planted secrets is in a bundle`() async throws {
        let all = (0..<Self.bundles * Self.exchangesEach).flatMap(Self.secrets)
        #expect(all.count == 10_000)
        let forbidden = SecretWindows(all)
        #expect(
            forbidden.isFound(in: Data("xx\(all[40])".utf8))
                && forbidden.isFound(in: Data(hexString: all[40]) ?? Data()))
        for index in 0..<Self.bundles {
            let bundle = try await Self.bundle(index)
            let entries = try ZipArchive(reading: bundle).entries
            #expect(try SupportBundle(bundle).exchanges.count >= Self.exchangesEach)
            for entry in entries {
                #expect(!forbidden.isFound(in: entry.data), "\(index) \(entry.name)")
            }
        }
    }
}

@Suite struct PseudonymsTests {
    private let pseudonyms = Pseudonyms(seed: 7)

    @Test(arguments: [
        "0123456789abcdef", "550e8400-e29b-41d4-a716-446655440000", "c2VjcmV0LXNlc3Npb24taWQtMDE=", "a%2Fb+c/d==", "",
    ])
    func `a pseudonym has the form of its secret, and is always the same`(_ secret: String) {
        let shown = pseudonyms.value(secret)
        #expect(shown.count == secret.count && shown == pseudonyms.value(secret))
        #expect(secret.isEmpty || shown != secret)
        #expect((Data(hexString: secret) == nil) == (Data(hexString: shown) == nil))
        #expect((UUID(uuidString: secret) == nil) == (UUID(uuidString: shown) == nil))
        #expect(secret.isEmpty || shown != Pseudonyms(seed: 8).value(secret))
    }

    @Test(arguments: [
        "The token has expired.", "contentIdentifierMissing", "E-1001", "2026-01-02T03:04:05Z", "status 403",
        "text/html",
        "application/octet-stream",
    ])
    func `words, codes and times stay`(_ text: String) { #expect(pseudonyms.words(text) == text) }

    @Test(arguments: [
        "0123456789abcdef", "xkcdqwertzuiopasdfgh", "aBcDeFgHiJkLmNoPqRsT", "abc123def456", "viewer@mail.example",
        "493827165",
    ])
    func `what looks random does not`(_ text: String) { #expect(!pseudonyms.words("so \(text) is").contains(text)) }

    @Test func `an address keeps its host and its words`() {
        let shown = pseudonyms.url(
            "https://user:pass@cdn.example:8443/live/master.m3u8?hdnts=exp=1~hmac=0123456789&v=2#top")
        #expect(shown.contains("@cdn.example:8443/live/master.m3u8?hdnts=") && shown.hasSuffix("&v=2#top"))
        #expect(!shown.contains("pass") && !shown.contains("0123456789"))
    }
}
