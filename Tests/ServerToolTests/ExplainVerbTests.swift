import Foundation
import LatchkeyTerminal
import LatchkeyVendors
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// `latchkey-server explain` with the knowledge of a running server.
@Suite(.timeLimit(.minutes(2)))
struct ExplainVerbTests {
    private func explain(_ stage: TestServer, _ id: String, _ more: String...) async throws -> ToolRun {
        let key = try stage.root.write(stage.folder.adminKey.revealedText, to: "key-\(UUID().uuidString).txt")
        return await ToolRun(
            arguments: ["explain", id, "--server", stage.server.addresses.operators.url, "--key", key] + more)
    }

    @Test func `the tool and the log explain a token with a numeric sub`() async throws {
        let stage = try await TestServer()
        let token = try stage.token("anna", ["sub": 4711])
        let reply = try await stage.player(
            "fairplay", "POST", body: Data([1]),
            bearer: token, headers: ["X-Request-Id": "request-number"])
        #expect(reply.status == 401 && !reply.text.contains("sub"))
        let run = try await explain(stage, "request-number")
        #expect(run.status == .yes, "\(run.error)")
        #expect(run.output.hasPrefix("tokenClaim, before a policy was evaluated\n"))
        #expect(run.output.contains("Reason    The token's “sub” is a number, not text.\n"))
        #expect(run.output.contains("Remedy    Write the claim as text"))
        let json = try await explain(stage, "request-number", "--json")
        #expect(JSONValue(Data(json.output.utf8))?["code"]?.text == "tokenClaim")
        await stage.stop()
        let log = await stage.log
        #expect(log.contains("The token's “sub” is a number, not text."))
        #expect(!log.contains("4711"))
    }

    @Test func `a decision is explained as before, for any tenant`() async throws {
        let stage = try await TestServer()
        _ = try await stage.license(headers: ["X-Request-Id": "request-granted"])
        let run = try await explain(stage, "request-granted")
        #expect(run.output.hasPrefix("license, by the policy “demo”"), "\(run.error)")
        let json = try await explain(stage, "request-granted", "--json", "--tenant", "demo")
        #expect(try DecisionRecord(json: Data(json.output.utf8)).word == "license")
        let other = try await explain(stage, "request-granted", "--tenant", "acme")
        #expect(other.status == .no && other.error.contains("but to"), "\(other.error)")
    }

    @Test func `an unknown request and a wrong key show the server's message`() async throws {
        let stage = try await TestServer()
        let unknown = try await explain(stage, "request-unknown")
        #expect(
            unknown.status == .no && unknown.error.contains("This node does not know the request."), "\(unknown.error)")
        let key = try stage.root.write("wrong", to: "wrong.txt")
        let refused = await ToolRun(
            "explain", "request-unknown", "--server", stage.server.addresses.operators.url, "--key", key)
        #expect(refused.status == .no && refused.error.contains("operator's key"), "\(refused.error)")
    }

    @Test func `the log says why a packager was refused, for SPEKE too`() async throws {
        let stage = try await TestServer()
        #expect(try await stage.packager("speke", "POST", body: "<a/>").status == 422)
        #expect(try await stage.packager("speke", "POST", body: "<a/>", credentials: [:]).status == 401)
        await stage.stop()
        let log = await stage.log
        #expect(log.contains("The document is not CPIX") && log.contains("The request has no API key"), "\(log)")
    }

    @Test func `an export includes CPIX signaling for the requested systems`() async throws {
        let stage = try await TestServer()
        #expect(try await stage.packager("cpix", "POST", body: TestServer.document(1...2)).status == 200)
        func systems(_ query: String) async throws -> Int {
            let text = try await stage.packager("cpix?content=film\(query)").text
            return text.components(separatedBy: "<cpix:DRMSystem ").count - 1
        }
        #expect(try await systems("") == 6)
        #expect(try await systems("&systems=fairplay") == 2)
        #expect(try await systems("&systems=none") == 0)
        #expect(try await stage.packager("cpix?content=film&systems=odd").status == 400)
    }
}
