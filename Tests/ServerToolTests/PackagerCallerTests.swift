import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool

/// How packagers say who they are, over HTTP.
@Suite(.timeLimit(.minutes(2)))
struct PackagerCallerTests {
    private static func digest(_ secret: String) throws -> String {
        try MessageDigest.sha256(Array(secret.utf8)).hexString
    }

    private func heartbeat(
        _ stage: ServerStage, _ headers: [String: String], tenant: String = "demo"
    ) async throws -> (status: Int, challenge: String?) {
        let reply = try await stage.send(
            "\(stage.server.addresses.packagers.url)/t/\(tenant)/speke/heartbeat", headers: headers)
        return (reply.status, reply.header("WWW-Authenticate"))
    }

    private static func basic(_ text: String) -> [String: String] {
        ["Authorization": "Basic \(Data(text.utf8).base64EncodedString())"]
    }

    @Test func `a packager identifies itself by Basic authorization`() async throws {
        let digest = try Self.digest("encoder:p:ss wörd")
        let stage = try await ServerStage {
            $0 = $0.replacing(
                #""packagers": [{"#, with: #""packagers": [{"name": "basic", "basic": "\#(digest)"}, {"#)
        }
        #expect(try await heartbeat(stage, Self.basic("encoder:p:ss wörd")).status == 200)
        for wrong in ["encoder:p:ss", "encoder", "", "encoder:p:ss wörd "] {
            let answer = try await heartbeat(stage, Self.basic(wrong))
            #expect(answer.status == 401)
            #expect(answer.challenge == "Basic realm=\"latchkey\", Bearer")
        }
        #expect(try await heartbeat(stage, ["X-API-Key": "encoder:p:ss wörd"]).status == 401)
        await stage.stop()
    }

    @Test func `without a packager for Basic the reply does not offer it`() async throws {
        let stage = try await ServerStage()
        let answer = try await heartbeat(stage, [:])
        #expect(answer.status == 401 && answer.challenge == "Bearer")
        await stage.stop()
    }

    @Test func `one key of a packager works at each of its tenants, after each reload`() async throws {
        let stage = try await ServerStage { text in
            let start = text.range(of: #"    "demo": {"#)?.lowerBound ?? text.startIndex
            let own = text.range(of: #""apiKey": ""#).map { String(text[$0.upperBound...].prefix(64)) } ?? ""
            let others = ["brand-a", "brand-b", "brand-c"].map { name in
                #""\#(name)": {"packagers": [{"name": "at-\#(name)", "apiKey": "\#(own)"}]},"#
            }
            text.insert(contentsOf: others.joined(separator: "\n"), at: start)
        }
        for _ in 0..<4 {
            for tenant in ["demo", "brand-a", "brand-b", "brand-c"] {
                let key = ["X-API-Key": stage.folder.packagerKey.revealedText]
                #expect(try await heartbeat(stage, key, tenant: tenant).status == 200, "\(tenant)")
            }
            try await stage.server.reload()
        }
        await stage.stop()
    }
}
