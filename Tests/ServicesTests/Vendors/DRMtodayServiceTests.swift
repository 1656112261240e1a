import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct DRMtodayServiceTests {
    private static let id = Stage.videoKeyID
    private static let keyID = "a0b1c2d3e4f5061728394a5b6c7d8e9f"
    private static let whole = "skd://drmtoday?assetId=\(id)&variantId=&keyId=\(keyID)&keyRotationId=0"
    private static let custom = Data(#"{"userId":"u","sessionId":"s","merchant":"m"}"#.utf8).base64EncodedString()

    private static func token(_ claims: String) -> String { jwt(claims, header: #"{"alg":"HS512"}"#) }

    @Test(arguments: [
        ("/license-server-fairplay/cert/m", [:], 200), ("/license-server-fairplay/cert/", [:], 401),
        ("/license-server-fairplay/cert/", ["x-dt-custom-data": custom], 200),
        ("/license-server-fairplay/cert/m", ["dt-custom-data": "x"], 200),
        ("/license-server-fairplay/cert/a/b", [:], 404),
    ])
    func `the certificate is the merchant's, in DER`(
        _ path: String, _ headers: [String: String], _ status: Int
    ) async throws {
        try await withService(DRMtodayService.init) { stage in
            let reply = try await stage.send("GET", path, headers)
            #expect(reply.status == status)
            #expect((reply.body == Stage.certificate) == (status == 200))
        }
    }

    @Test func `the key URI has no host, so the parameters say where`() async throws {
        try await withService(DRMtodayService.init) { stage in
            #expect(stage.keyURI.raw == Self.whole)
            #expect(
                stage.service.parameters(at: "http://h/drmtoday") == [
                    "certificateURL": "http://h/drmtoday/license-server-fairplay/cert/latchkey",
                    "licenseURL": "http://h/drmtoday/license-server-fairplay/", "merchant": "latchkey",
                    "userId": "demo-user", "sessionId": "demo-session",
                ])
        }
    }

    @Test(arguments: [
        (whole, ""), (String(whole.dropFirst(15)), "&assetId=\(id)&variantId=&keyId=\(keyID)&keyRotationId=0"),
        ("skd://drmtoday?assetid=\(id)&variantId", ""), (whole, "&assetId=\(id)&variantId&offline=false"),
    ])
    func `each content identifier gets the CKC in base64`(_ identifier: String, _ fields: String) async throws {
        try await withService(DRMtodayService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(
                exchange.spc.revealed, ["x-dt-auth-token": stage.service.demoToken().revealedText], fields: fields)
            #expect(reply.status == 200)
            #expect(reply.headers["x-dt-resp-code"] == "0")
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the bytes of the key's identifier are a content identifier too`() async throws {
        try await withService(DRMtodayService.init) { stage in
            let bytes = try #require(Data(hexString: Self.keyID))
            let exchange = try stage.exchange(ContentIdentifier(bytes: bytes))
            let reply = try await stage.license(exchange.spc.revealed, ["x-dt-custom-data": Self.custom])
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
        }
    }

    @Test(arguments: [
        (["x-dt-custom-data": custom], 200, "0"), (["dt-custom-data": custom], 200, "0"), ([:], 401, "3000"),
        (["x-dt-custom-data": "?"], 400, "10001"), (["x-dt-custom-data": "e30="], 401, "3000"),
        (["x-dt-custom-data": Data(#"{"userId":"u","sessionId":"s"}"#.utf8).base64EncodedString()], 401, "3000"),
        (["x-dt-auth-token": "x"], 401, "3000"), (["x-dt-auth-token": token("{}")], 401, "3000"),
        (["x-dt-auth-token": token(#"{"crt":"[]","optData":"{}","jti":"1"}"#)], 401, "3000"),
        (["x-dt-auth-token": token(#"{"crt":"[{}]","optData":"{}","jti":"1"}"#)], 401, "3000"),
        (["x-dt-auth-token": token(#"{"crt":"[{}]","optData":"{\"merchant\":\"m\"}"}"#)], 401, "3000"),
        (["x-dt-auth-token": token(#"{"crt":"[{}]","optData":"{\"merchant\":\"m\"}","jti":"1"}"#)], 200, "0"),
        (["x-dt-auth-token": jwt(#"{"crt":"[{}]","optData":"{\"merchant\":\"m\"}","jti":"1"}"#)], 401, "3000"),
    ])
    func `custom data or token, each of its form`(
        _ headers: [String: String], _ status: Int, _ code: String
    ) async throws {
        try await withService(DRMtodayService.init) { stage in
            let reply = try await stage.license(try stage.exchange(Self.whole).spc.revealed, headers)
            #expect(reply.status == status)
            #expect(reply.headers["x-dt-resp-code"] == code)
            #expect((reply.headers["x-dt-error-message"] == nil) == (status == 200))
        }
    }

    @Test(arguments: [
        (#"{"assetId":"\#(id)"}"#, "", 200, "0"), (#"{"assetId":"other"}"#, "", 403, "20101"),
        (#"{"assetId":"\#(id)","variantId":"hd"}"#, "", 403, "20101"),
        (#"{"assetId":"\#(id)","variantId":"hd"}"#, "&variantId=hd", 200, "0"),
        (#"{"storeLicense":false}"#, "&offline=true", 403, "20101"),
    ])
    func `the token has to grant the asset`(
        _ right: String, _ fields: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(DRMtodayService.init) { stage in
            let token = stage.service.token(right: right).revealedText
            let reply = try await stage.license(
                try stage.exchange(Self.whole).spc.revealed, ["x-dt-auth-token": token], fields: fields)
            #expect(reply.status == status)
            #expect(reply.headers["x-dt-resp-code"] == code)
            #expect(reply.headers["x-dt-error-message"] == (status == 200 ? nil : "not_granted"))
        }
    }

    @Test(arguments: [("?offline=true", LicenseTerms(.persistent)), ("", LicenseTerms())])
    func `an offline license may be stored`(_ query: String, _ terms: LicenseTerms) async throws {
        try await withService(DRMtodayService.init) { stage in
            let exchange = try stage.exchange(Self.whole)
            let reply = try await stage.license(
                exchange.spc.revealed, ["x-dt-custom-data": Self.custom], query: query)
            let ckc = try #require(Data(base64Encoded: reply.text))
            #expect(try exchange.open(ckc, at: stage.time).terms == terms)
        }
    }

    @Test(arguments: [
        ("skd://drmtoday?assetId=nothing", "", 404, "30000"), (whole, "&assetId=audio", 403, "30000"),
        ("nothing", "", 404, "30000"),
    ])
    func `keys that do not exist or do not agree`(
        _ identifier: String, _ fields: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(DRMtodayService.init) { stage in
            let spc = try stage.exchange(identifier).spc.revealed
            let reply = try await stage.license(spc, ["x-dt-custom-data": Self.custom], fields: fields)
            #expect(reply.status == status)
            #expect(reply.headers["x-dt-resp-code"] == code)
        }
    }

    @Test func `base64 in lines, then encoded, and base64 not encoded pass with a warning`() async throws {
        try await withService(DRMtodayService.init) { stage in
            let spc = try stage.exchange(Self.whole).spc.revealed
            let lines = spc.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            let headers = ["x-dt-custom-data": Self.custom]
            for text in [formEncoded(lines), spc.base64EncodedString()] {
                let status = try await stage.send(
                    "POST", "/license-server-fairplay/", headers, Data("spc=\(text)".utf8)
                )
                .status
                #expect(status == 200)
            }
            #expect(stage.warnings == ["base64", "formEscaping"])
        }
    }

    @Test func `a body that is no SPC, and refusals of the vendor's own`() async throws {
        try await withService(DRMtodayService.init) { stage in
            let headers = ["x-dt-custom-data": Self.custom]
            let broken = try await stage.license(Data(count: 50), headers)
            #expect(broken.status == 400)
            #expect(broken.headers["x-dt-resp-code"] == "43000")
            stage.service.faults.set(.refusal(code: "90001", status: 403), at: .license)
            let region = try await stage.license(Data(count: 50), headers)
            #expect(region.status == 403)
            #expect(region.headers["x-dt-resp-code"] == "90001")
        }
    }

    @Test func `a configured merchant is the only one, and a token may be good for one license`() async throws {
        try await withService(
            DRMtodayService.init,
            {
                $0.merchant = "acme"
                $0.tokensAreSingleUse = true
                $0.signingKey = Secret("a key")
            }
        ) { stage in
            let spc = try stage.exchange(Self.whole).spc.revealed
            let certificate = try await stage.send("GET", "/license-server-fairplay/cert/m").status
            #expect(certificate == 403)
            let other = try await stage.license(spc, ["x-dt-custom-data": Self.custom]).status
            #expect(other == 403)
            let token = ["x-dt-auth-token": stage.service.demoToken().revealedText]
            let first = try await stage.license(spc, token).status
            let second = try await stage.license(spc, token)
            #expect(first == 200)
            let claims = #"{"crt":"[{}]","optData":"{\"merchant\":\"acme\"}","jti":"1"}"#
            let unsigned = try await stage.license(spc, ["x-dt-auth-token": Self.token(claims)])
            #expect(unsigned.headers["x-dt-error-message"] == "tokenSignature")
            #expect(second.status == 403)
            #expect(second.headers["x-dt-error-message"] == "tokenUsed")
        }
    }
}

extension ServiceStage<DRMtodayService> {
    fileprivate func license(
        _ spc: Data, _ headers: [String: String], fields: String = "", query: String = ""
    ) async throws -> Reply {
        let body = "spc=\(formEncoded(spc.base64EncodedString()))\(fields)"
        return try await send("POST", "/license-server-fairplay/\(query)", headers, Data(body.utf8))
    }
}
