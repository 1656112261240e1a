import Foundation
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// A running server's log of requests.
@Suite(.timeLimit(.minutes(5))) struct RequestLogTests {
    private func lines(of stage: TestServer) async -> [JSONValue] {
        await stage.stop()
        return await stage.lines().compactMap { JSONValue(Data($0.utf8)) }
    }

    @Test func `licenses, heartbeats, certificates and stray requests are separate events`() async throws {
        let stage = try await TestServer(policy: ["concurrency.heartbeat": "30s"])
        let (reply, _) = try await stage.license(headers: ["X-Request-Id": "request-license"])
        let token = try #require(reply.header("X-Latchkey-Heartbeat-Token"), "\(reply.text)")
        for (id, method, path, bearer) in [
            ("request-beat", "POST", "sessions/heartbeat", token), ("request-end", "DELETE", "sessions", token),
            ("request-refused", "POST", "sessions/heartbeat", "nonsense"),
            ("request-certificate", "GET", "certificate", ""), ("request-stray", "GET", "nowhere", ""),
        ] {
            _ = try await stage.player(path, method, bearer: bearer, headers: ["X-Request-Id": id])
        }
        let lines = await lines(of: stage)
        func words(_ id: String) -> [String?] {
            let line = lines.first { $0["request_id"]?.text == id }
            return ["event", "endpoint", "outcome"].map { line?[$0]?.text }
        }
        #expect(words("request-license") == ["license", "fairplay", "granted"])
        #expect(words("request-beat") == ["heartbeat", "heartbeat", "ok"])
        #expect(words("request-end") == ["heartbeat", "session", "ok"])
        #expect(words("request-refused") == ["heartbeat", "heartbeat", "refused"])
        #expect(words("request-certificate") == ["certificate", "certificate", "ok"])
        #expect(words("request-stray") == ["stray", "none", "refused"])
        for line in lines where ["refused", "failed", "shed"].contains(line["outcome"]?.text) {
            #expect(line["reason"]?.text?.isEmpty == false && line["message"]?.text?.isEmpty == false, "\(line)")
        }
    }

    /// The actions that operators may not do, and the code in the log.
    private static let refused: [(path: String, method: String, key: String?, code: String)] = [
        ("overview", "GET", nil, "adminKey"), ("overview", "DELETE", "right", "adminMethod"),
        ("nowhere", "GET", "right", "adminUnknown"), ("audit?from=x", "GET", "right", "adminRequest"),
    ]

    @Test(arguments: refused) func `an operator's refusal is logged with its reason`(
        _ path: String, _ method: String, _ key: String?, _ code: String
    ) async throws {
        let stage = try await TestServer()
        let reply = try await stage.admin(path, method, key: key.map { _ in TestServer.key(.security) })
        #expect(JSONValue(reply.body)?["code"]?.text == code)
        #expect(method != "DELETE" || reply.header("Allow")?.contains("GET") == true)
        let line = try #require(await lines(of: stage).last { $0["event"]?.text == "admin" })
        #expect(line["outcome"]?.text == "refused" && line["reason"]?.text == code, "\(line)")
        #expect(
            line["message"]?.text == (key == nil ? "" : "By security-1. ")
                + (JSONValue(reply.body)?["reason"]?.text ?? ""))
    }

    @Test func `the last dropped lines are reported before a server ends`() async throws {
        let stage = try await TestServer()
        for _ in 0..<2_500 { stage.server.shared.log.write(LogEntry(.info, .stray)) }
        let lines = await lines(of: stage).filter { $0["event"]?.text == "stray" }
        let told = lines.reduce(0) { $0 + ($1["dropped"]?.number ?? 0) }
        #expect(told > 0 && told == Double(2_500 - lines.count { $0["level"]?.text == "info" }))
    }
}
