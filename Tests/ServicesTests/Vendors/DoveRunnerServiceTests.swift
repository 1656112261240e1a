import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import LatchkeyVendorWire
import Testing

/// The clock stands at 2026-01-01T00:00:00Z.
@Suite(.timeLimit(.minutes(5))) struct DoveRunnerServiceTests {
    private static let id = Stage.videoKeyID

    // MARK: Certificate

    @Test func `the key manager gives the certificate in base64, the other path in DER`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            let text = try await stage.send("GET", "/ri/fpsKeyManager.do?siteId=ABCD")
            #expect(text.status == 200)
            #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(text.text == Stage.certificate.base64EncodedString())
            let file = try await stage.send("GET", "/ri/fpsCert.do?siteId=ABCD")
            #expect(file.body == Stage.certificate)
        }
    }

    @Test(arguments: [("", "9001"), ("?siteId=", "9001"), ("?siteId=ABCDE", "1003"), ("?siteId=EVIL", "1003")])
    func `a certificate error comes as JSON with status 200`(_ query: String, _ code: String) async throws {
        try await withService(DoveRunnerService.init, { $0.siteID = "ABCD" }) { stage in
            let reply = try await stage.send("GET", "/ri/fpsKeyManager.do\(query)")
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            #expect(try reply.member("errorCode") == code)
            #expect(try reply.member("message")?.isEmpty == false)
        }
    }

    @Test func `a refusal that states a status has it here, and 200 at the license server`() {
        let refusal = LicenseRefusal(.vendor(code: "tenantLicenseLimit", status: 429), reason: "The day is over.")
        var api = DoveRunnerAPI()
        #expect(api.reply(to: refusal, at: .license).status == 200)
        api.statesStatus = true
        #expect(api.reply(to: refusal, at: .license).status == 429)
    }

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/doverunner") == [
                    "certificateURL": "http://h/doverunner/ri/fpsKeyManager.do?siteId=DEMO",
                    "licenseURL": "http://h/doverunner/ri/licenseManager.do", "siteId": "DEMO",
                ])
        }
    }

    // MARK: License

    @Test(arguments: ["", "&assetId=\(id)"])
    func `a form gets the CKC in base64`(_ asset: String) async throws {
        try await withService(DoveRunnerService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let spc = formEncoded(exchange.spc.revealed.base64EncodedString())
            let reply = try await stage.license("spc=\(spc)\(asset)")
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the token may stand in the query`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let token = formEncoded(stage.service.demoToken().revealedText)
            let reply = try await stage.send(
                "POST", "/ri/licenseManager.do?pallycon-customdata-v2=\(token)", [:],
                Data("spc=\(formEncoded(exchange.spc.revealed.base64EncodedString()))".utf8))
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
        }
    }

    @Test func `what shipped clients send passes with a warning`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let spc = exchange.spc.revealed
            try #require(spc.base64EncodedString().contains("+"))
            _ = try await stage.license("spc=\(spc.base64EncodedString())")
            #expect(stage.warnings == ["formEscaping"])
            _ = try await stage.license("spc=\(spc.base64URL)")
            #expect(stage.warnings == ["formEscaping", "base64"])
            let reply = try await stage.license(spc, type: "application/octet-stream")
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
            #expect(stage.warnings == ["formEscaping", "base64", "rawSPC"])
            let empty = try await stage.license(Data(), type: "application/octet-stream")
            #expect(try empty.member("errorCode") == "7305")
        }
    }

    @Test(arguments: [
        ("", "7305"), ("spc=", "7305"), ("assetId=x", "7305"), ("spc=%21", "7317"), ("spc=AAAA", "7317"),
        ("spc=SPC&assetId=f1e2d3c4-b5a6-9788-7766-554433221100", "7308"), ("spc=SPC&assetId=nothing", "7001"),
    ])
    func `a form that is wrong in one thing`(_ body: String, _ code: String) async throws {
        try await withService(DoveRunnerService.init) { stage in
            let spc = formEncoded(try stage.exchange(Self.id).spc.revealed.base64EncodedString())
            let reply = try await stage.license(body.replacing("SPC", with: spc))
            #expect(reply.status == 200)
            #expect(try reply.member("errorCode") == code)
        }
    }

    @Test func `an SPC that the private key does not open is 7316`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            var spc = try stage.exchange(Self.id).spc.revealed
            // The 20 bytes behind version, reserved bytes and IV are the certificate's hash.
            spc[spc.startIndex + 160] ^= 1
            let reply = try await stage.license("spc=\(formEncoded(spc.base64EncodedString()))")
            #expect(try reply.member("errorCode") == "7316")
        }
    }

    @Test(arguments: [("GET", "text/plain", 405), ("POST", "application/json", 415)])
    func `method and media type are refused as HTTP does`(
        _ method: String, _ type: String, _ status: Int
    ) async throws {
        try await withService(DoveRunnerService.init) { stage in
            let headers = ["Content-Type": type, "pallycon-customdata-v2": stage.service.demoToken().revealedText]
            let body = method == "GET" ? nil : Data("{}".utf8)
            let reply = try await stage.send(method, "/ri/licenseManager.do", headers, body)
            #expect(reply.status == status)
        }
    }

    // MARK: Token

    @Test(arguments: [
        ("{}", nil), (#"{"cid":"\#(id)"}"#, nil), (#"{"cid":"video"}"#, nil), (#"{"cid":"audio"}"#, "7012"),
        (#"{"cid":"nothing"}"#, "7012"), (#"{"drm_type":"Widevine"}"#, "7018"), (#"{"drm_type":null}"#, "7009"),
        (#"{"user_id":""}"#, "7009"), (#"{"hash":null}"#, "7009"), (#"{"policy":"!"}"#, "7009"),
        (#"{"timestamp":"yesterday"}"#, "7009"), (#"{"timestamp":"2025-12-31T23:50:00Z"}"#, nil),
        (#"{"timestamp":"2025-12-31T23:49:59Z"}"#, "7011"), (#"{"site_id":"EVIL"}"#, "1003"),
        (#"{"response_format":"custom"}"#, "9999"),
    ])
    func `a token is looked at as far as it can be read`(_ claims: String, _ code: String?) async throws {
        try await withService(DoveRunnerService.init, { $0.siteID = "ABCD" }) { stage in
            let token = stage.service.token(claims: claims).revealedText
            let reply = try await stage.license(try stage.form(), token: token)
            #expect(reply.status == 200)
            #expect(try code == nil || reply.member("errorCode") == code)
            #expect(code != nil || Data(base64Encoded: reply.text) != nil)
        }
    }

    @Test(arguments: [("", "9001"), ("%%%", "7009"), ("e30=", "7009"), ("W10=", "7009")])
    func `no token and text that is none`(_ token: String, _ code: String) async throws {
        try await withService(DoveRunnerService.init) { stage in
            let reply = try await stage.license(try stage.form(), token: token)
            #expect(try reply.member("errorCode") == code)
            #expect(token.isEmpty || !reply.text.contains(token))
        }
    }

    @Test(arguments: [
        (#"{"license_duration":900}"#, LicenseTerms(.lease(.seconds(900)))),
        (#"{"persistent":true}"#, LicenseTerms(.persistent)),
        (#"{"persistent":true,"license_duration":500}"#, LicenseTerms(.persistentFor(.seconds(500)))),
        (#"{"persistent":true,"expire_date":"2026-01-01T01:00:00Z"}"#, LicenseTerms(.persistentFor(.seconds(3_600)))),
        (
            #"{"persistent":true,"rental_duration":600,"playback_duration":60}"#,
            LicenseTerms(.dualExpiry(storage: .seconds(600), playback: .seconds(60)))
        ),
    ])
    func `a readable policy reaches the device`(_ policy: String, _ terms: LicenseTerms) async throws {
        try await withService(DoveRunnerService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let sealed = Data(policy.utf8).base64EncodedString()
            let token = stage.service.token(claims: #"{"policy":"\#(sealed)"}"#).revealedText
            let reply = try await stage.license(try stage.form(), token: token)
            let ckc = try #require(Data(base64Encoded: reply.text))
            #expect(try exchange.open(ckc, at: stage.time).terms == terms)
        }
    }

    @Test func `a policy whose time is over is 8711`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            let sealed = Data(#"{"expire_date":"2026-01-01T00:00:00Z"}"#.utf8).base64EncodedString()
            let token = stage.service.token(claims: #"{"policy":"\#(sealed)"}"#).revealedText
            let reply = try await stage.license(try stage.form(), token: token)
            #expect(try reply.member("errorCode") == "8711")
        }
    }

    // MARK: Forms of errors

    @Test func `an error may come nested in 8002, with a status of its own`() async throws {
        try await withService(
            DoveRunnerService.init,
            {
                $0.nestsErrors = true
                $0.errorStatus = 400
            }
        ) { stage in
            let reply = try await stage.license("assetId=x")
            #expect(reply.status == 400)
            #expect(try reply.member("errorCode") == "8002")
            let inner = try #require(try reply.member("message"))
            #expect(inner == #"{"ERROR":"7305","MESSAGE":"There is no field “spc”."}"#)
        }
    }

    @Test func `the switch makes it refuse with any code`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            stage.service.faults.set(.refusal(code: "7304", status: 500), at: .license)
            let reply = try await stage.license(try stage.form())
            #expect(reply.status == 500)
            #expect(try reply.member("errorCode") == "7304")
        }
    }
}

extension ServiceStage<DoveRunnerService> {
    fileprivate func form() throws -> String {
        "spc=\(formEncoded(try exchange(Stage.videoKeyID).spc.revealed.base64EncodedString()))"
    }

    fileprivate func license(_ body: String, token: String? = nil) async throws -> Reply {
        try await license(Data(body.utf8), type: "application/x-www-form-urlencoded", token: token)
    }

    fileprivate func license(_ body: Data, type: String, token: String? = nil) async throws -> Reply {
        let token = token ?? service.demoToken().revealedText
        return try await send(
            "POST", "/ri/licenseManager.do", ["Content-Type": type, "pallycon-customdata-v2": token], body)
    }
}
