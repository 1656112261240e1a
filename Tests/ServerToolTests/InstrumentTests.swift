import Foundation
import LatchkeyHTTP
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Readiness, metrics, log, console and `explain` agree about a running server.
@Suite(.timeLimit(.minutes(5))) struct InstrumentTests {
    @Test func `the metric reports a node ready as long as readyz does, and not after it stops`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.metric("latchkey_ready") == 1)
        stage.server.shared.isDraining = true
        #expect(try await stage.ready().0 == 503)
        #expect(try await stage.metric("latchkey_ready") == 0)
        stage.server.shared.isDraining = false
    }

    @Test func `the overview lists each engine's state, its start, and its last error`() async throws {
        let stage = try await TestServer.switched()
        await stage.tick()
        func engines() async throws -> [String: JSONValue] {
            let all = try await stage.admin("overview").list("engines")
            return Dictionary(all.map { ($0["name"]?.text ?? "", $0) }, uniquingKeysWith: { one, _ in one })
        }
        var found = try await engines()
        #expect(Set(found.keys) == ["keyStore", "auditStore", "sessionStore", "tokenStore", "keySet"])
        for name in ["keyStore", "auditStore"] { #expect(found[name]?["state"]?.text == "answers", "\(name)") }
        #expect(found["keySet"]?["tenant"]?.text == "demo")
        stage.database.setDown(true)
        await stage.tick()
        found = try await engines()
        #expect(found["keyStore"]?["state"]?.text == "away")
        #expect(found["keyStore"]?["since"]?.text != nil)
        #expect(found["keyStore"]?["error"]?.text == "The test took it away.")
    }

    @Test func `a license with a stale key is counted and logged as such`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        await stage.tick()
        #expect(try await stage.license(1).status == 200)
        #expect(try await stage.metric(#"latchkey_licenses_degraded_total{why="staleKey"}"#) == 1)
        await stage.stop(within: .zero)
        #expect(await stage.log.contains(#""degraded":"staleKey""#))
    }

    @Test func `a count that may be incomplete says at least, and a complete one is exact`()
        async throws
    {
        let stage = try await TestServer.switched()
        for number in 1...3 { #expect(try await stage.license(number).status == 200) }
        let shared = stage.server.shared
        let all = SessionCounts(shared.operatorAccounts, shared.metrics)
        #expect(await all.counts(of: ["demo"])["demo"] == RecordCount(3, isWhole: true))
        #expect(shared.metrics.text(.prometheus).contains(#"latchkey_sessions_at_least{tenant="demo"} 0"#))
        let store = SwitchedRecordStore()
        let switched = SessionCounts(AccountSessions(accounts: store, secrets: []), shared.metrics)
        #expect(await switched.counts(of: ["demo"])["demo"]?.value == 0)
        store.setDown(true)
        // A reader sees the last count. The record of viewers has no number that was not counted.
        #expect(await switched.counts(of: ["demo"])["demo"]?.value == 0)
        #expect(await switched.count(["demo"]).isEmpty)
        let some = SessionCounts(AccountSessions(accounts: PartlyCounted(), secrets: []), shared.metrics)
        #expect(await some.counts(of: ["demo"])["demo"] == RecordCount(2, isWhole: false))
        #expect(shared.metrics.text(.prometheus).contains(#"latchkey_sessions_at_least{tenant="demo"} 1"#))
    }

    /// Requests that are refused, by endpoint: path, method, body.
    private static let refused: [(endpoint: String, path: String, body: String)] = [
        ("speke", "speke", "<nope/>"), ("cpix-import", "cpix", "<nope/>"),
        ("common-encryption", "keys/common-encryption", "{}"),
        ("none", "nowhere", ""),
    ]

    @Test(arguments: refused) func `a packager's refusal is logged with its reason and explained`(
        endpoint: String, path: String, body: String
    ) async throws {
        let stage = try await TestServer()
        let id = "refused-\(endpoint)"
        _ = try await stage.packager(path, "POST", body: body, headers: ["X-Request-Id": id, "X-Speke-Version": "2.0"])
        let why = try await stage.admin("requests/\(id)")
        let refusal = JSONValue(why.body)?["refusal"]
        #expect(why.status == 200 && refusal?["endpoint"]?.text == endpoint, "\(why.text)")
        #expect(refusal?["reason"]?.text?.isEmpty == false)
        await stage.stop()
        let log = await stage.log
        let line = log.split(separator: "\n").first { $0.contains(id) }.flatMap { JSONValue(Data($0.utf8)) }
        #expect(line?["endpoint"]?.text == endpoint && line?["outcome"]?.text == "refused")
        #expect(line?["reason"]?.text == refusal?["code"]?.text && line?["message"]?.text?.isEmpty == false)
    }

    @Test func `a player's refusals are explained, even at unknown paths and at the limit`()
        async throws
    {
        let stage = try await TestServer()
        _ = try await stage.player("nowhere", headers: ["X-Request-Id": "request-nowhere"])
        while stage.server.shared.requestLimit.begin(.start, tenant: "demo") {}
        _ = try await stage.license(for: "bob", headers: ["X-Request-Id": "request-of-bob"])
        for (id, code) in [("request-nowhere", "noSuchPath"), ("request-of-bob", "overloaded")] {
            let why = try await stage.admin("requests/\(id)")
            #expect(JSONValue(why.body)?["refusal"]?["code"]?.text == code, "\(why.text)")
        }
    }

    @Test func `an identifier names its node, and other nodes say which one to ask`() async throws {
        let stage = try await TestServer()
        let (reply, _) = try await stage.license()
        let id = try #require(reply.header("x-request-id").flatMap { RequestID($0) })
        #expect(id.node == RequestID.nodeName(stage.server.shared.node))
        #expect(try await stage.admin("requests/\(id.text)").status == 200)
        var generator = SystemRandomNumberGenerator()
        let other = RequestID(using: &generator, node: "node-of-others")
        let elsewhere = try await stage.admin("requests/\(other.text)")
        #expect(elsewhere.status == 404 && elsewhere.text.contains("node-of-others"), "\(elsewhere.text)")
    }
}
