import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

/// What services do that `Tests/Golden/Wires` does not show: halves, bytes and ranges.
@Suite(.timeLimit(.minutes(5))) struct ServicesBesideTranscriptsTests {
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

    @Test func `half a license of Azure's stands between whole tags`() async throws {
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

    @Test func `a damaged CKC of Kaltura's keeps its envelope`() async throws {
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

    @Test func `the bytes of a key id are an identifier of Conax's, too`() async throws {
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
}
