import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// No event, error or description shows a token, an SPC or a CKC, in whatever form a service sends it back.
@Suite(.timeLimit(.minutes(5))) struct SecrecyTests {
    static let spc = Data((0..<200).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })

    /// All forms of the secrets: text, base64 of both alphabets and all alignments, percent-encoded, hexadecimal.
    static let forbidden: [String] = [Data(token.utf8), spc, SampleBytes.ckc()].flatMap { bytes -> [String] in
        let base64 = bytes.base64EncodedString()
        let shifted = [1, 2].map { String((Data(count: $0) + bytes).base64EncodedString().dropFirst(4).prefix(40)) }
        return [
            String(data: bytes, encoding: .utf8), base64, base64.inURLSafeForm, bytes.hexString,
            bytes.hexString.uppercased(),
        ]
        .compactMap(\.self).flatMap { [$0, $0.percentEncoded, $0.replacingOccurrences(of: "/", with: "\\/")] } + shifted
    }

    private func expectNoSecret(in text: String, _ location: SourceLocation = #_sourceLocation) {
        for secret in Self.forbidden where text.contains(secret) {
            Issue.record("\(secret.prefix(24))… in \(text.prefix(300))", sourceLocation: location)
        }
    }

    private func shown(_ value: Any) -> String {
        var text = "\(value) \(String(reflecting: value)) "
        dump(value, to: &text)
        return text
    }

    static let fixed = Credentials.fixed(.token(token))
    static var echoes: [String] {
        let bytes = Data(token.utf8)
        return [
            "bad token \(token)", "bad \(bytes.base64EncodedString())", "bad \(token.percentEncoded)",
            "bad \(bytes.hexString)", "bad \(bytes.hexString.uppercased())", "bad (\(token))", token,
            "spc \(spc.base64EncodedString())", "spc \(spc.hexString)",
            "spc=\(spc.base64EncodedString().percentEncoded)",
            String(repeating: "long ", count: 50) + token, String(repeating: "long ", count: 58) + token,
            Data("x\(token)".utf8).base64EncodedString(), Data("xy\(token)".utf8).base64EncodedString(),
        ]
    }

    @Test(arguments: [VendorProfile.raw, .json], echoes)
    func `echoed secrets are removed from errors and events`(profile: VendorProfile, echo: String) async {
        var profile = profile
        profile.errors = ErrorRules(code: [.header("X-Code")], message: [.json("message")])
        let body = (try? JSONEncoder().encode(["message": echo])) ?? Data()
        let reply = HTTPReply(status: 400, headers: [("X-Code", echo), ("X-Request-Id", echo)], body: body)
        let harness = Harness(
            profile.unchecked, get: [.status(302, [("Location", "/moved?echo=\(echo.percentEncoded)")]), .certificate],
            post: [.reply(reply)], credentials: Self.fixed)
        let events = harness.loader.events()
        let error = await harness.answer(FakeKeyRequest(key) { Self.spc }).error
        #expect(error?.code == "invalidRequest")
        expectNoSecret(in: shown(error as Any))
        for event in await events.untilAnswered() { expectNoSecret(in: shown(event)) }
    }

    @Test func `a successful key leaves no secret in its events`() async {
        let cloud = VendorProfile.cloudDRM.with([
            "certificateURL": "https://a.example/c", "brandGuid": "b", "licenseURL": "https://a.example/l",
        ])
        for profile in [VendorProfile.raw, .json, cloud] {
            let harness = Harness(profile.unchecked, credentials: Self.fixed)
            let events = harness.loader.events()
            let request = FakeKeyRequest(KeyURI("skd://fairplay-license.vudrm.tech/license/abc?token=\(token)&KID=1")) {
                Self.spc
            }
            #expect(await harness.answer(request).ckc == SampleBytes.ckc())
            let all = await events.untilAnswered()
            #expect(all.count > 6)
            for event in all { expectNoSecret(in: shown(event)) }
        }
    }

    @Test(arguments: [
        FakeTransport.Step.failure(TransportError(.timedOut, "No.")), .failure(LeakyError()),
        .ok("<html>\(token)</html>"),
        .ok(token), .ok(SampleBytes.ckc(cutting: 1)), .status(500), .ok(Data(count: 2 << 20)),
        .status(307, [("Location", "https://b.example/?t=\(token.percentEncoded)")]),
        .status(307, [("Location", "http://b.example/?t=\(token.percentEncoded)")]),
    ])
    func `a failed key leaves no secret in its error and events`(step: FakeTransport.Step) async {
        let harness = Harness(VendorProfile.raw.unchecked, post: [step], credentials: Self.fixed) {
            $0.retry.maximumAttempts = 1
        }
        let events = harness.loader.events()
        let error = await harness.answer(FakeKeyRequest(key) { Self.spc }).error
        expectNoSecret(in: shown(error as Any))
        for event in await events.untilAnswered() { expectNoSecret(in: shown(event)) }
    }

    @Test func `a secret anywhere in a key's or a service's address is in no event`() async throws {
        let secrets = ["user", "list", "announced", "matrix", "named", "nested", "access"].map {
            "\($0)-5544332211aabbcc"
        }
        let path = "hdntl=exp=1~hmac=\(secrets[1])/token/\(secrets[2])/k;sig=\(secrets[3])"
        let nested = "https://x/?token=\(secrets[5])".percentEncoded
        let rest = "\(path)?auth=\(secrets[4])&u=\(nested)#access_token=\(secrets[6])"
        let harness = Harness(
            VendorProfile.raw.unchecked,
            post: [.status(307, [("Location", "https://b.example/\(rest)")]), .status(500)],
            credentials: Self.fixed
        ) { $0.retry.maximumAttempts = 1 }
        let events = harness.loader.events()
        let key = KeyURI("skd://ann:\(secrets[0])@host/\(rest)")
        let error = await harness.answer(FakeKeyRequest(key) { Self.spc }).error
        let all = await events.untilAnswered()
        #expect(all.count > 3)
        let json = String(decoding: try JSONEncoder().encode(all), as: UTF8.self)
        let text = all.map(shown).joined() + shown(error as Any) + json
        #expect(text.contains("skd://") && text.contains("@host/hdntl="))
        #expect(secrets.filter { text.contains($0) } == [])
    }

    @Test func `an integration with its own token and the app's own errors leave no secret`() async {
        struct Mine: VendorIntegration {
            let identifier = "mine"
            func bundledCertificate() throws -> ApplicationCertificate? {
                try ApplicationCertificate(SampleBytes.certificate)
            }
            func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
                var request = URLRequest(url: URL(filePath: "/"))
                request.url = URL(string: "https://a.example/l?auth=\(token.percentEncoded)")
                request.httpMethod = "POST"
                request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
                request.httpBody = Data(#"{"a":[{"spc":"\#(spc.bytes.revealed.base64EncodedString())"}]}"#.utf8)
                return request
            }
            func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
                let sent = String(decoding: exchange.request.httpBody ?? Data(), as: UTF8.self)
                throw IntegrationError(.forbidden, "Refused \(token) and \(sent).", service: ServiceReply(status: 403))
            }
        }
        let harness = Harness(Mine(), credentials: Credentials.none) { $0.hosts.allowed = ["a.example"] }
        let events = harness.loader.events()
        let error = await harness.answer(FakeKeyRequest(key) { Self.spc }).error
        #expect(error?.reason.hasPrefix("Refused ‹secret› and") == true)
        expectNoSecret(in: shown(error as Any))
        for event in await events.untilAnswered() { expectNoSecret(in: shown(event)) }
        let leaky = Harness(VendorProfile.raw.unchecked, credentials: Credentials { _ in throw LeakyError() })
        let own = await leaky.answer().error
        #expect(own?.underlying is LeakyError)
        expectNoSecret(in: shown(own as Any))
    }

    @Test func `a reply received by a player is treated alike`() async throws {
        var profile = VendorProfile.json
        profile.errors = ErrorRules(message: [.json("m")])
        let harness = Harness(profile.unchecked, credentials: Self.fixed)
        let request = try await harness.loader.licenseRequest(for: SPCMessage(Self.spc), key: key)
        let body = Data(#"{"m":"no \#(token) nor \#(Self.spc.base64EncodedString().prefix(60))"}"#.utf8)
        let exchange = HTTPExchange(request: request, reply: HTTPReply(status: 400, body: body))
        let error = #expect(throws: ContentKeyError.self) { try harness.loader.license(from: exchange, key: key) }
        #expect(error?.stage == .license)
        expectNoSecret(in: shown(error as Any))
    }

    struct LeakyError: Error { let text = "I hold \(token)" }
}

extension String {
    fileprivate var inURLSafeForm: String {
        replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }
}

@Suite(.timeLimit(.minutes(5))) struct SecretFormsTests {
    @Test(arguments: ["abc+/123=\"\\", "plain-token", "größer"])
    func `finds each form of a secret`(secret: String) {
        let forms = SecretForms([Secret(secret)])
        let bytes = Data(secret.utf8)
        let texts = [
            secret, secret.percentEncoded, bytes.base64EncodedString(), bytes.hexString, bytes.hexString.uppercased(),
            Data("a\(secret)b".utf8).base64EncodedString(), Data("ab\(secret)c".utf8).base64EncodedString(),
            (try? JSONEncoder().encode([secret])).map { String(decoding: $0, as: UTF8.self) } ?? "",
        ]
        for text in texts {
            #expect(forms.areFound(in: Data("x \(text) y".utf8)))
            #expect(forms.scrubbed("x \(text) y").contains("‹secret›"))
        }
        #expect(forms.scrubbed("nothing here") == "nothing here" && !forms.areFound(in: Data("nothing".utf8)))
        #expect(!forms.areFound(in: nil) && !forms.areFound(in: Data()))
    }

    @Test func `removes the longest first and leaves short texts alone`() {
        let forms = SecretForms(["orange", "orange-and-more", "ab", ""].map { Secret($0) })
        #expect(forms.scrubbed("orange-and-more, ab, orange") == "‹secret›, ab, ‹secret›")
        #expect(forms.areFound(in: Data("xaby".utf8)))
    }
}
