import Foundation
import LatchkeyTesting

@testable import TestServers

/// A server on loopback in the place of Apache with a licensee's module: it repeats the asset id of each item, and its CKC is a word.
///
/// It is kinder than a module, which reads the asset id in the SPC. `ModuleLicenseTests` has the stand-in that does.
enum ModuleService {
    static let answer: @Sendable (String, Int) -> LoopbackServer.Action = { request, _ in
        let body = request.range(of: "\r\n\r\n").map { Data(request[$0.upperBound...].utf8) } ?? Data()
        let item = JSONValue(body)?["fairplay-streaming-request"]?["create-ckc"]?.elements?.first
        let answer: JSONValue = [
            "id": item?["id"] ?? .null, "status": 0, "asset-id": item?["asset-id"] ?? .null,
            "ckc": .text(Data("module".utf8).base64EncodedString()),
        ]
        let response: JSONValue = ["fairplay-streaming-response": ["create-ckc": [answer]]]
        return LoopbackServer.reply("200 OK", body: response.canonicalText)
    }

    /// Who made the CKC of a license, or the refusal.
    static let ask: @Sendable (SettingStage) async throws -> String = { stage in
        let reply = try await stage.stage.license().0
        if reply.status == 200 { return reply.body == Data("module".utf8) ? "the module's CKC" : "the KSM's CKC" }
        return "\(reply.status) \(reply.json["error"]?["code"]?.text ?? "")"
    }
}
