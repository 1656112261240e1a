import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Which cause comes first: every status × every oddity × every stage, and the services' words.
@Suite(.timeLimit(.minutes(2))) struct RefusalTests {
    private static let oddities: [(code: String, parts: Set<RequestPart>)] = [
        ("headerMissing", [.token]), ("tokenFormWrong", [.token]), ("tokenMissing", [.token]),
        ("queryItemMissing", [.token, .address]), ("placeholderSent", [.token, .body, .address]),
        ("methodWrong", [.method]), ("contentTypeWrong", [.type]), ("addressWrong", [.address]),
        ("spcMissing", [.body]), ("spcIsCertificate", [.body]), ("encodedTwice", [.body]), ("bodyFormWrong", [.body]),
        ("plusNotEncoded", [.body]), ("alphabetWrong", [.body]), ("fieldMissing", [.body]),
        ("spcHasLineBreaks", [.body]), ("spcIsCutShort", [.body]), ("spcIsCKC", [.body]), ("spcIsPrivateKey", [.body]),
        ("spcIsReadAsText", [.body]), ("spcIsHexadecimal", [.body]), ("spcIsNumbers", [.body]),
        ("spcIsOtherSystem", [.body]), ("spcIsGzip", [.body]), ("spcIsPlaceholder", [.body]), ("spcIsMedia", [.body]),
    ]

    /// The parts that a wordless status leaves open, written down by hand.
    private static let statuses: [(status: Int, open: Set<RequestPart>)] = [
        (200, Set(RequestPart.allCases)), (400, Set(RequestPart.allCases)), (401, [.token]), (402, []),
        (403, Set(RequestPart.allCases)), (404, [.address, .method]), (405, [.address, .method]),
        (406, [.type, .body]), (407, []), (408, []), (409, []), (410, [.address, .method]), (411, [.body]), (412, []),
        (413, [.body]), (414, [.token, .address]), (415, [.type, .body]), (422, Set(RequestPart.allCases)), (423, []),
        (424, []), (425, []), (426, []), (428, []), (429, []), (431, [.token, .address]), (451, []),
        (500, Set(RequestPart.allCases)), (501, [.address, .method]), (502, []), (503, []), (504, []), (505, []),
        (507, []), (511, []), (520, []), (529, []),
    ]
    private static let steps: [Checkup.Step] = [.certificate, .lookup, .session, .license]

    private func refusal(
        _ status: Int, _ words: String? = nil, documented: DocumentedCode? = nil, at step: Checkup.Step = .license,
        _ headers: [(String, String)] = [], _ body: String = ""
    ) -> Refusal {
        Refusal(
            step: step, reply: HTTPReply(status: status, headers: headers, body: Data(body.utf8)), words: words,
            documented: documented)
    }

    @Test(arguments: statuses.indices, oddities.indices)
    func `an oddity leads if the status leaves its part of the request open, at every stage`(
        status: Int, oddity: Int
    ) {
        let (row, odd) = (Self.statuses[status], Self.oddities[oddity])
        let fault = RequestFault(odd.code, "it is odd", "Mend it.")
        #expect(fault.parts == odd.parts)
        for step in Self.steps {
            let leads = refusal(row.status, at: step).leading([fault]) != nil
            #expect(leads == !odd.parts.isDisjoint(with: row.open), "\(row.status) \(odd.code) \(step)")
        }
    }

    @Test(arguments: statuses.indices, steps)
    func `no remedy mentions a token or key where the stage has none`(index: Int, step: Checkup.Step) {
        let status = Self.statuses[index].status
        guard status >= 400 else { return }
        let kinds: [Int: Diagnosis.Kind] = [401: .unauthenticated, 403: .forbidden, 404: .notFound, 410: .notFound]
        let kind = kinds[status] ?? (status >= 500 ? .serverTransient : .invalidRequest)
        let check = refusal(status, at: step).explained(.error(step, kind.rawValue, "No.", kind.remedy), kind)
        #expect(check.open == Self.statuses[index].open)
        guard step != .license else { return }
        #expect(check.remedy?.contains("this token may not play") == false, "\(check)")
        if step != .certificate { #expect(check.remedy?.contains("content's key") == false, "\(check)") }
    }

    @Test(
        arguments: [
            (503, "scheduled maintenance until 12:30", []), (403, "too many streams on this account", []),
            (400, "Concurrent stream limit exceeded", []), (403, "Not available in your region", []),
            (403, "subscription ended", []), (403, "playback denied", [.token]),
            (403, "Token signature mismatch", [.token]),
            (500, "Unable to parse SPC", [.body, .type]), (500, "Invalid SPC envelope", [.body, .type]),
            (500, "asset not found", [.address]), (400, "nope", Set(RequestPart.allCases)),
            (429, "the SPC came too often", []), (401, "unsupported media type", [.type, .body]),
        ] as [(Int, String, Set<RequestPart>)])
    func `a service's words say what they leave open`(status: Int, words: String, open: Set<RequestPart>) {
        #expect(refusal(status, words).open == open)
    }

    @Test(
        arguments: [
            (.concurrencyLimit, []), (.regionDenied, []), (.forbidden, []), (.rateLimited, []), (.serverTransient, []),
            (.unauthenticated, [.token]), (.notFound, [.address]), (.invalidRequest, Set(RequestPart.allCases)),
        ] as [(Diagnosis.Kind, Set<RequestPart>)])
    func `a documented code outranks words, status and sender`(
        kind: Diagnosis.Kind, open: Set<RequestPart>
    ) {
        let said = refusal(400, "bad SPC", documented: DocumentedCode(kind), [("Server", "AmazonS3")])
        #expect(said.open == open && said.sender == nil)
    }

    /// A token that the service read is where it belongs, so that its missing header leads only where the page leaves all open.
    @Test(
        arguments: [
            ("verimatrix", "MDRM-1014", [.address, .token]), ("verimatrix", "MDRM-1004", [.body, .type]),
            ("doverunner", "8712", [.token]), ("doverunner", "9999", [.address]), ("cloud-drm", "drm_4005", [.address]),
            ("drmtoday", "10001", [.body, .type]), ("drmtoday", "60001", [.token]), ("nagra", "1002", [.address]),
            ("drmtoday", "2000", nil), ("doverunner", "9001", nil), ("naver", "100", nil),
        ] as [(String, String, Set<RequestPart>?)])
    func `a documented code opens the parts that the vendor's page names, or says that it names none (M1)`(
        vendor: String, code: String, open: Set<RequestPart>?
    ) throws {
        let documented = try #require(VendorProfile.named(vendor)?.errors(at: .license)?.codes[code])
        #expect(documented.kind == .invalidRequest)
        let said = refusal(400, documented: documented)
        #expect(said.open == open ?? Set(RequestPart.allCases))
        #expect((said.leading([RequestFault("headerMissing", "it is odd", "Mend it.")]) == nil) == (open != nil))
        let check = said.explained(.error(.license, "invalidRequest", "No.", documented.remedy), .invalidRequest)
        #expect(check.reason.contains("does not say which part") == (open == nil), "\(check)")
    }

    @Test func `the table of oddities has every code that a request can be found odd by`() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/LatchkeyCommandLine/Doctor")
            .standardized
        let codes = try ["RequestFault", "RequestComparison"].flatMap { name in
            try String(contentsOf: folder.appending(path: "\(name).swift"), encoding: .utf8)
                .matches(of: /"([a-z]+[A-Z][A-Za-z]+)"/).map { String($0.output.1) }
        }
        // The recognizer's nouns in the SPC's place.
        let recognized = ["OtherSystem", "Gzip", "Placeholder", "Media"].map { "spcIs\($0)" }
        #expect(Set(Self.oddities.map(\.code)) == Set(codes + recognized))
    }

    @Test(arguments: [
        ("storageRefused", "AmazonS3", "", #"<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>"#),
        ("storageRefused", "UploadServer", "", "AccessDenied"), ("storageRefused", "Windows-Azure-Blob/1.0", "", ""),
        ("firewallRefused", "cloudflare", "", "<html><title>Attention Required! | Cloudflare</title></html>"),
        ("firewallRefused", "AkamaiGHost", "", "<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD></HTML>"),
        ("firewallRefused", "x", "x-amzn-waf-action", ""),
        ("gatewayRefused", "nginx", "", "<html><center><h1>403</h1></center><hr><center>nginx/1.2</center></html>"),
        ("gatewayRefused", "x", "", #"{"message":"Missing Authentication Token"}"#),
    ])
    func `a sender other than the service is named, with its own remedy at every stage`(
        code: String, server: String, field: String, body: String
    ) {
        for step in Self.steps {
            let headers = [("Server", server)] + (field.isEmpty ? [] : [(field, "block")])
            let kind = Diagnosis.Kind.forbidden
            let check = refusal(403, at: step, headers, body).explained(
                .error(step, kind.rawValue, "The service answered 403.", kind.remedy), kind)
            #expect(check.code == code && check.remedy?.contains("token may not") == false, "\(check)")
            // A refusal that passes on its own keeps its own remedy.
            let late = refusal(503, at: step, headers, body).explained(
                .error(step, "serverTransient", "503.", "Try again."), .serverTransient)
            #expect(late.code == "serverTransient" && late.remedy == "Try again.", "\(late)")
        }
    }

    @Test(arguments: [
        ("cloudflare", "the vendor's service behind Cloudflare"), ("nginx", #"{"message":"Forbidden by policy"}"#),
    ])
    func `a service behind a gateway speaks for itself`(server: String, body: String) {
        #expect(refusal(403, [("Server", server)], body).sender == nil)
    }

    private func refusal(_ status: Int, _ headers: [(String, String)], _ body: String) -> Refusal {
        refusal(status, nil, headers, body)
    }
}

// The same in captures.
extension RefusalTests {
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

    private func diagnosed(
        _ status: Int, _ body: String, _ headers: [String: String] = form, _ words: String...
    ) async throws -> RecordedRun {
        let traffic = try await RecordedTraffic().playlist().certificate().license(
            "https://media.example.com/generic/license", headers, status: status, .text(body))
        return try await traffic.diagnosed("--vendor", words.first ?? "generic-raw")
    }

    @Test(arguments: [
        (503, "scheduled maintenance until 12:30", "serverTransient"),
        (403, #"{"code":"CONCURRENCY","message":"too many streams on this account"}"#, "forbidden"),
        (429, "slow down", "rateLimited"), (451, "not here", "regionDenied"), (401, "who are you", "unauthenticated"),
    ])
    func `the service's words lead, and the Content-Type is a warning (h41, h42)`(
        status: Int, body: String, cause: String
    ) async throws {
        let run = try await diagnosed(status, body)
        #expect(run.status == .no && run.cause == cause, "\(run.output)")
        #expect(run.output.contains("contentTypeWrong"))
    }

    @Test func `a bucket that denies the certificate is named (h37)`() async throws {
        let denied = "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        let run = try await RecordedTraffic().playlist().adding(
            "GET", "https://acme.s3.amazonaws.com/fairplay.cer", status: 403,
            ["Server": "AmazonS3", "Content-Type": "application/xml"], .text(denied)
        ).diagnosed("--vendor", "generic-raw")
        #expect(
            run.cause == "storageRefused" && run.causeReason.contains("AccessDenied: Access Denied"), "\(run.output)")
        #expect(!run.output.contains("token may not"))
    }

    @Test func `an expired token does not cause maintenance`() async throws {
        let claims = Data(#"{"exp":1500000000,"iss":"i","aud":"a"}"#.utf8).base64EncodedString().prefix { $0 != "=" }
        let headers = ["x-drm-brandGuid": "b", "x-drm-usertoken": "eyJhbGciOiJIUzI1NiJ9.\(claims).c2ln"]
        for (status, cause) in [(503, "serverTransient"), (403, "expired")] {
            let spc = try await RecordedTraffic.parts.spc
            let run = try await RecordedTraffic().certificate().adding(
                "POST", "https://a.la.drm.cloud/acquire-license/fairplay?brandGuid=b",
                headers.merging(["Content-Type": "application/octet-stream"]) { $1 }, .base64(spc), status: status,
                date: "2026-11-25T08:00:00.000Z"
            ).diagnosed()
            #expect(run.cause == cause, "\(status): \(run.output)")
        }
    }

    @Test func `a code about key and subject leads, and a missing header is a warning (h35)`() async throws {
        let spc = try await RecordedTraffic.parts.spc.base64EncodedString()
        let key = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"
        let run = try await RecordedTraffic().playlist("skd://\(key)?keyId=\(key)").certificate().adding(
            "POST", "https://media.example.com/verimatrix/fairplay",
            ["Content-Type": "application/json", "User-Agent": "player"], .text(#"{"spc":"\#(spc)"}"#), status: 400,
            [:],
            .text(#"{"code":"MDRM-1014","message":"subject"}"#)
        ).diagnosed("--vendor", "verimatrix")
        #expect(run.cause == "invalidRequest" && run.causeReason.contains("The key id or the subject"), "\(run.output)")
        #expect(run.output.contains("headerMissing"))
    }

    @Test func `a leading oddity under an invalid-request code says that the code names no part`()
        async throws
    {
        let spc = try await RecordedTraffic.parts.spc.base64EncodedString()
        let form = "spc=\(spc.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        let key = "skd://drmtoday?assetId=a&variantId=&keyId=a0b1c2d3e4f5061728394a5b6c7d8e9f&keyRotationId=0"
        let run = try await RecordedTraffic().playlist(key).certificate().adding(
            "POST", "https://lic.drmtoday.com/license-server-fairplay/",
            Self.form.merging(["User-Agent": "player"]) { $1 }, .text(form), status: 400, ["x-dt-resp-code": "2000"]
        ).diagnosed("--vendor", "drmtoday")
        #expect(run.cause == "headerMissing", "\(run.output)")
        #expect(run.causeReason.contains("The vendor's page does not say which part"), "\(run.output)")
    }

    @Test func `base64 lines are named (h38)`() async throws {
        let spc = try await RecordedTraffic.parts.spc.base64EncodedString(options: [.lineLength76Characters])
        let json = try JSONSerialization.data(withJSONObject: ["spc": spc, "assetId": "a"])
        let run = try await RecordedTraffic().playlist().certificate().adding(
            "POST", "https://a.example/license", ["Content-Type": "application/json"],
            .text(String(decoding: json, as: UTF8.self)), status: 400, [:], .text("bad spc message")
        ).diagnosed("--vendor", "generic-json")
        #expect(run.cause == "spcHasLineBreaks", "\(run.output)")
    }

    @Test func `a private key at the certificate's address is an alarm even if the certificate is good (b30)`()
        async throws
    {
        let parts = try await RecordedTraffic.parts
        func pem(_ label: String, _ data: Data) -> String {
            "-----BEGIN \(label)-----\n\(data.base64EncodedString())\n-----END \(label)-----\n"
        }
        let both = pem("CERTIFICATE", parts.certificate) + pem("PRIVATE KEY", Data(repeating: 7, count: 90))
        let run = try await RecordedTraffic().playlist().adding(
            "GET", "https://a.example/fairplay.pem", status: 200, [:], .text(both)
        ).license("https://a.example/l").diagnosed()
        #expect(run.status == .no && run.cause == "privateKeyPublished", "\(run.output)")
        let folder = try TemporaryFolder()
        try Data(both.utf8).write(to: folder.file("f.pem"))
        let wire = await RecordedRun(
            "wire", "response", "--vendor", "vudrm", "--stage", "certificate", "--body", folder.path("f.pem"))
        #expect(wire.status == .no && wire.output.contains("private key"), "\(wire.output)\(wire.error)")
        let file = await RecordedRun("inspect", "certificate", folder.path("f.pem"))
        #expect(file.status == .no && file.output.contains("and its private key"), "\(file.output)")
    }
}
