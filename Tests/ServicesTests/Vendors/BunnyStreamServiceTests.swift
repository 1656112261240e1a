import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct BunnyStreamServiceTests {
    private static let id = Stage.videoKeyID

    private static let securityKey = Secret("4742a81b-bf15-42fe-8b1c-8fcb9024c550")

    @Test func `a customer is told library, video and addresses`() async throws {
        try await withService(BunnyStreamService.init) { stage in
            let told = stage.service.parameters(at: "http://h/bunny-stream")
            #expect(told["certificateURL"] == "http://h/bunny-stream/FairPlay/759/certificate")
            #expect(told["licenseURL"] == "http://h/bunny-stream/FairPlay/759/license/")
            #expect(told["libraryId"] == "759" && told["videoId"] == Self.id)
            let certificate = try await stage.send("GET", "/FairPlay/759/certificate")
            #expect(certificate.body == Stage.certificate)
        }
    }

    @Test(arguments: [
        "/FairPlay/759/license/?videoId=v-1", "/FairPlay/759/license?videoId=v-1", "/FairPlayLicense/759/v-1",
    ])
    func `JSON with the SPC gets JSON with the CKC`(path: String) async throws {
        try await withService(BunnyStreamService.init) { stage in
            let exchange = try stage.exchange(stage.keyURI.raw)
            let reply = try await stage.sendJSON(path, ["spc": exchange.spc.base64])
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `a token is the hash of key, video and end`() async throws {
        try await withService(BunnyStreamService.init, { $0.tokenSecurityKey = Self.securityKey }) { stage in
            let end = Int(stage.time.date.timeIntervalSince1970) + 60
            let token = stage.service.token(video: "v-1", end: end).revealedText
            #expect(token.count == 64)
            let body = ["spc": try stage.exchange(stage.keyURI.raw).spc.base64]
            let path = "/FairPlay/759/license/?videoId=v-1"
            #expect(try await stage.sendJSON("\(path)&token=\(token)&expires=\(end)", body).status == 200)
            for wrong in [
                "", "&token=\(token)", "&token=\(token)&expires=\(end + 1)", "&token=0&expires=\(end)",
                "&token=\(token)&expires=x",
            ] {
                #expect(try await stage.sendJSON(path + wrong, body).status == 403)
            }
            let other = "/FairPlay/759/license/?videoId=v-2&token=\(token)&expires=\(end)"
            #expect(try await stage.sendJSON(other, body).status == 403)
            stage.time.advance(by: .seconds(61))
            #expect(try await stage.sendJSON("\(path)&token=\(token)&expires=\(end)", body).status == 403)
            #expect(try await stage.send("GET", "/FairPlay/759/certificate").status == 403)
        }
    }

    @Test(arguments: [("/FairPlay/759/license/", 400), ("/FairPlay/760/license/?videoId=v", 404)])
    func `a URL without a video, or of another library, is refused`(path: String, status: Int) async throws {
        try await withService(BunnyStreamService.init, { $0.library = "759" }) { stage in
            let body = ["spc": try stage.exchange(stage.keyURI.raw).spc.base64]
            #expect(try await stage.sendJSON(path, body).status == status)
        }
    }

    @Test func `a body without an SPC and an unknown key are refused`() async throws {
        try await withService(BunnyStreamService.init) { stage in
            let path = "/FairPlay/759/license/?videoId=v-1"
            let empty = try await stage.sendJSON(path, [String: String]())
            #expect(empty.status == 400)
            let unknown = try await stage.sendJSON(path, ["spc": try stage.exchange("skd://no").spc.base64])
            #expect(unknown.status == 404)
        }
    }
}
