import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct BunnyStreamServiceTests {
    private static let securityKey = Secret("4742a81b-bf15-42fe-8b1c-8fcb9024c550")

    @Test func `a token is the hash of key, video and end`() async throws {
        try await withService(BunnyStreamService.init, { $0.tokenSecurityKey = Self.securityKey }) { stage in
            let end = Int(stage.time.date.timeIntervalSince1970) + 60
            let token = stage.service.token(video: "v-1", end: end).revealedText
            #expect(token.count == 64)
            let body = ["spc": try stage.exchange(stage.keyURI.raw).spc.revealed.base64EncodedString()]
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
}

extension ServiceStage {
    /// Posts a JSON object.
    fileprivate func sendJSON(_ path: String, _ body: some Encodable) async throws -> Reply {
        try await send("POST", path, ["Content-Type": "application/json"], try JSONEncoder().encode(body))
    }
}
