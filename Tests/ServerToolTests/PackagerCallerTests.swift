import Foundation
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// How packagers identify themselves, over HTTP.
@Suite(.timeLimit(.minutes(2)))
struct PackagerCallerTests {
    private static func digest(_ secret: String) throws -> String {
        try MessageDigest.sha256(Array(secret.utf8)).hexString
    }

    private func heartbeat(
        _ stage: TestServer, _ headers: [String: String], tenant: String = "demo"
    ) async throws -> (status: Int, challenge: String?) {
        let reply = try await stage.packager("speke/heartbeat", credentials: headers, at: tenant)
        return (reply.status, reply.header("WWW-Authenticate"))
    }

    private static func basic(_ text: String) -> [String: String] {
        ["Authorization": "Basic \(Data(text.utf8).base64EncodedString())"]
    }

    @Test func `a packager identifies itself by Basic authorization`() async throws {
        let digest = try Self.digest("encoder:p:ss wörd")
        let stage = try await TestServer(["tenants.demo.packagers.1": ["name": "basic", "basic": .text(digest)]])
        #expect(try await heartbeat(stage, Self.basic("encoder:p:ss wörd")).status == 200)
        for wrong in ["encoder:p:ss", "encoder", "", "encoder:p:ss wörd "] {
            let answer = try await heartbeat(stage, Self.basic(wrong))
            #expect(answer.status == 401)
            #expect(answer.challenge == "Basic realm=\"latchkey\", Bearer")
        }
        #expect(try await heartbeat(stage, ["X-API-Key": "encoder:p:ss wörd"]).status == 401)
    }

    @Test func `without a Basic packager the reply does not offer Basic`() async throws {
        let stage = try await TestServer()
        let answer = try await heartbeat(stage, [:])
        #expect(answer.status == 401 && answer.challenge == "Bearer")
    }

    @Test func `one packager key works at each of its tenants, after each reload`() async throws {
        let stage = try await TestServer(prepare: { folder in
            let own = try Self.digest(folder.packagerKey.revealedText)
            for name in ["brand-a", "brand-b", "brand-c"] {
                try folder.edit(["tenants.\(name).packagers": [["name": "at-\(name)", "apiKey": .text(own)]]])
            }
        })
        for _ in 0..<4 {
            for tenant in ["demo", "brand-a", "brand-b", "brand-c"] {
                let key = ["X-API-Key": stage.folder.packagerKey.revealedText]
                #expect(try await heartbeat(stage, key, tenant: tenant).status == 200, "\(tenant)")
            }
            try await stage.server.reload()
        }
    }
}
