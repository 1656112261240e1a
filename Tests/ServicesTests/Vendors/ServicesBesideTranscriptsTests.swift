import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

/// Services' behavior that `Tests/Golden/Wires` does not show: halves, bytes and ranges.
@Suite(.timeLimit(.minutes(5))) struct ServicesBesideTranscriptsTests {
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

    @Test func `half of Azure's license is between whole tags`() async throws {
        try await withService(AzureService.init) { stage in
            let spc = formEncoded(try stage.exchange("kid=\(Stage.videoKeyID)").spc.revealed.base64EncodedString())
            let body = Data("spc=\(spc)&assetId=kid%3D\(Stage.videoKeyID)".utf8)
            let path = "/FairPlay/?kid=\(Stage.videoKeyID)"
            let good = try await stage.send("POST", path, Self.form, body).text
            stage.service.faults.set(.truncatedPayload, at: .license)
            let half = try await stage.send("POST", path, Self.form, body).text
            #expect(half.hasPrefix("<ckc>") && half.hasSuffix("</ckc>"))
            let count = { (text: String) in Data(base64Encoded: String(text.dropFirst(5).dropLast(6)))?.count ?? 0 }
            #expect(count(half) == count(good) / 2)
        }
    }

    @Test(arguments: [BrightcoveAPI(), NAVERAPI()] as [any VendorAPI])
    func `a policy that asks to wait says nothing about the content`(_ api: any VendorAPI) throws {
        let refusal = LicenseRefusal(.policy(.storeUnavailable), reason: "The store is away.")
        #expect(try api.reply(to: refusal, of: BareLicenseRequest()).status == 503)
    }

    @Test func `Kaltura's damaged CKC keeps its envelope`() async throws {
        try await withService(KalturaService.init) { stage in
            stage.service.faults.set(.truncatedPayload, at: .license)
            let exchange = try stage.exchange(Stage.videoKeyID)
            let body = Data(exchange.spc.revealed.base64EncodedString().utf8)
            let headers = ["Content-Type": "application/octet-stream"]
            let reply = try await stage.send("POST", "/fps/license?custom_data=abc&signature=def", headers, body)
            let ckc = try #require(try reply.payload("ckc"))
            #expect(throws: (any Error).self) { try exchange.open(ckc, at: stage.time) }
        }
    }

    @Test func `a key id's bytes are also an identifier at Conax`() async throws {
        try await withService(ConaxService.init) { stage in
            let bytes = try #require(Data(base64Encoded: "oLHC0+T1BhcoOUpbbH2Onw=="))
            let exchange = try stage.exchange(ContentIdentifier(bytes: bytes))
            let headers = ["Content-Type": "application/octet-stream"]
            let reply = try await stage.send("POST", "/conax-fairplay/license", headers, exchange.spc.revealed)
            #expect(try stage.opensVideo(reply.body, exchange))
        }
    }

    @Test func `Verimatrix's busy back end asks to wait one to five seconds`() async throws {
        try await withService(VerimatrixService.init) { stage in
            stage.service.faults.set(.refusal(code: "MDRM-1015", status: 503), at: .license)
            let reply = try await stage.send("POST", "/fairplay", ["Content-Type": "application/json"], Data("{}".utf8))
            #expect(reply.status == 503)
            let delay = reply.headers["retry-after"].flatMap { Int($0) } ?? 0
            #expect((1...5).contains(delay))
        }
    }

    @Test func `a key id's bytes are also an identifier at DRMtoday`() async throws {
        try await withService(DRMtodayService.init) { stage in
            let exchange = try stage.exchange(
                ContentIdentifier(bytes: try #require(Data(hexString: "a0b1c2d3e4f5061728394a5b6c7d8e9f"))))
            let reply = try await stage.send(
                "POST", "/license-server-fairplay/", ["x-dt-auth-token": stage.service.demoToken().revealedText],
                Data("spc=\(formEncoded(exchange.spc.revealed.base64EncodedString()))".utf8))
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
        }
    }

    @Test func `at JW Platform the medium determines the key of a constant identifier`() async throws {
        try await withService(JWPlatformService.init) { stage in
            let token = stage.service.demoToken().revealedText
            let document = try await stage.send("GET", "/v2/media/audio/drm/policy?token=\(token)").text
            let path = try #require(document.firstMatch(of: /jw-platform(\/fairplay\/process-spc[^"]*)/)?.output.1)
            let exchange = try stage.exchange("placeholder")
            let type = ["Content-Type": "application/octet-stream"]
            let reply = try await stage.send("POST", String(path), type, exchange.spc.revealed)
            #expect(try exchange.open(reply.body, at: stage.time).contentKey != Stage.videoKey)
        }
    }

    @Test func `a customer under TLS gets an https address`() throws {
        let environment = ServiceEnvironment(authority: try Stage.authority())
        let delivery = JWPlatformService(environment).parameters(at: "https://h/jw-platform")["deliveryURL"]
        #expect(delivery == "https://h/jw-platform/v2/media/latchkey/drm/latchkey?scheme=https")
        let express = ExpressPlayService(environment).parameters(at: "https://h/expressplay")
        #expect(express["entitlementURL"] == "https://h/expressplay/sees/SEESServlet?scheme=https")
        #expect(express["certificate"] == Stage.certificate.base64EncodedString())
    }

    @Test func `DoveRunner's refusal with a status has it here, and 200 at the license server`() throws {
        let refusal = LicenseRefusal(.vendor(code: "tenantLicenseLimit", status: 429), reason: "The day is over.")
        var api = DoveRunnerAPI()
        #expect(try api.reply(to: refusal, of: BareLicenseRequest()).status == 200)
        api.statesStatus = true
        #expect(try api.reply(to: refusal, of: BareLicenseRequest()).status == 429)
    }

    @Test func `an SPC not made for DoveRunner's key is 7316`() async throws {
        try await withService(DoveRunnerService.init) { stage in
            var spc = try stage.exchange(Stage.videoKeyID).spc.revealed
            // The 20 bytes behind version, reserved bytes and IV are the certificate's hash.
            spc[spc.startIndex + 160] ^= 1
            let headers = Self.form.merging(["pallycon-customdata-v2": stage.service.demoToken().revealedText]) { $1 }
            let body = Data("spc=\(formEncoded(spc.base64EncodedString()))".utf8)
            let reply = try await stage.send("POST", "/ri/licenseManager.do", headers, body)
            #expect(try reply.member("errorCode") == "7316")
        }
    }
}
