import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyForms
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct LatchkeyServiceTests {
    private static let path = "/t/demo/fairplay"

    private func headers(_ stage: ServiceStage<LatchkeyService>) -> [String: String] {
        ["Authorization": "Bearer \(stage.service.demoToken().revealedText)", "Content-Type": "application/json"]
    }

    @Test func `JSON gets the CKC with its lease in JSON`() async throws {
        let policy = LicensePolicy(standard: LicenseTerms(.lease(.seconds(600))))
        try await withService(policy: policy, LatchkeyService.init) { stage in
            let exchange = try stage.exchange(stage.keyURI.raw)
            let body = Data(#"{"spc":"\#(exchange.spc.base64)","purpose":"stream"}"#.utf8)
            let reply = try await stage.send("POST", Self.path, headers(stage), body)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
            #expect(try reply.member("lease") == "600")
            #expect(try reply.member("renewAfter") == "480")
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `an SPC as it is gets the CKC as it is`() async throws {
        try await withService(LatchkeyService.init) { stage in
            let exchange = try stage.exchange(stage.keyURI.raw)
            let headers = headers(stage).merging(["Content-Type": "application/octet-stream"]) { $1 }
            let reply = try await stage.send("POST", Self.path, headers, exchange.spc.revealed)
            #expect(try stage.opensVideo(reply.body, exchange))
        }
    }

    @Test(arguments: [
        ("{}", 400, "malformedRequest"), (#"{"spc":"SPC","purpose":"steal"}"#, 400, "malformedRequest"),
        (#"{"spc":"SPC","token":"x"}"#, 401, "tokenMalformed"), (#"{"spc":"SPC","token":""}"#, 401, "tokenMissing"),
    ])
    func `a refusal is in the server's form`(body: String, status: Int, code: String) async throws {
        try await withService(LatchkeyService.init, { $0.signingKey = Secret("k") }) { stage in
            let spc = try stage.exchange(stage.keyURI.raw).spc.base64
            let reply = try await stage.send(
                "POST", Self.path, headers(stage), Data(body.replacing("SPC", with: spc).utf8))
            #expect(reply.status == status)
            let error = JSONValue(reply.body)?["error"]
            #expect(error?["code"]?.text == code)
            #expect(error?["requestId"]?.text?.isEmpty == false)
        }
    }
}
