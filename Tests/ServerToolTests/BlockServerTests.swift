import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

/// Two nodes over one PostgreSQL, each with its own copy, while operators block viewers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."))
struct BlockServerTests {
    private static let viewer = #"{"kind":"account","name":"viewer-7","reason":"stolen password"}"#

    /// A node that follows the others' changes, with its own copy.
    private static func node(
        _ name: String, _ stage: CheckStage, _ time: any Timekeeper = SystemTimekeeper()
    ) async throws -> TestServer {
        try stage.folder.edit(["stores.copy": .text("sqlite:copy-\(name).db")])
        return try await TestServer(stage.folder, time: time)
    }

    /// Repeats a request until its answer has a status.
    private static func until(_ status: Int, _ ask: () async throws -> HTTPReply) async throws -> HTTPReply {
        while true {
            let reply = try await ask()
            if reply.status == status { return reply }
            try Task.checkCancellation()
        }
    }

    /// The clocks stand still: only a notice brings a change to the other node, not the read of each half minute.
    @Test func `a blocked account is refused at both nodes by notice, also the renewal of its stream`() async throws {
        let (stage, time) = (try await CheckStage(), ManualTimekeeper(date: Date()))
        try stage.folder.edit(["tenants.demo.unlisted": nil])
        try stage.folder.edit(["concurrency": ["limit": 5, "heartbeat": "30s"]], in: "policies/demo.json")
        let (a, b) = (try await Self.node("a", stage, time), try await Self.node("b", stage, time))
        let followers = [a, b].map { node in Task { [server = node.server] in await server.followKeys() } }
        defer { for follower in followers { follower.cancel() } }
        try await a.importKeys(1...1)
        let token = try a.token("viewer-7", ["latchkey": ["device": .text("tv-7")]])
        let other = try a.token("viewer-8")
        for node in [a, b] {
            #expect(try await node.license(1, token: token).status == 200)
            #expect(try await node.license(1, token: other).status == 200)
        }
        #expect(try await a.admin("tenants/demo/blocks", "PUT", body: Self.viewer).status == 200)
        let refused = try await a.license(1, token: token, requestID: "request-blocked")
        #expect(refused.status == 403 && refused.text.contains("accountBlocked"), "\(refused.text)")
        #expect(!refused.text.contains("stolen"), "The reason is for operators.")
        let elsewhere = try await Self.until(403) { try await b.license(1, token: token) }
        #expect(elsewhere.text.contains("accountBlocked"))
        for node in [a, b] { #expect(try await node.license(1, token: other).status == 200) }
        #expect(try await a.operators("metrics").text.contains(#"outcome="refused",reason="accountBlocked""#))
        let key = try a.root.write(TestServer.key(.security), to: "key.txt")
        let run = await ToolRun(
            "explain", "request-blocked", "--server", a.server.addresses.operators.url, "--key", key)
        #expect(run.output.contains("accountBlocked") && run.output.contains("stolen password"), "\(run.error)")

        let path = "tenants/demo/blocks?kind=account&name=viewer-7"
        #expect(try await b.admin(path, "DELETE", body: "").status == 200)
        let license = try await b.license(1, token: token)
        #expect(license.status == 200)
        _ = try await Self.until(200) { try await a.license(1, token: token) }
        #expect(try await b.admin(path, "DELETE", body: "").status == 404)
        #expect(
            try await a.audit().filter { $0.hasPrefix("block") }.prefix(2) == [
                "blockSet demo/viewer-7 by admin:security-1", "blockLifted demo/viewer-7 by admin:security-1",
            ])

        // Redis extends a slot itself, and does not know whose device it is.
        let heartbeat = try #require(license.header("X-Latchkey-Heartbeat-Token"))
        func beat() async throws -> HTTPReply { try await b.player("sessions/heartbeat", "POST", bearer: heartbeat) }
        #expect(try await beat().status == 200)
        let device = #"{"kind":"device","name":"tv-7","reason":"shared"}"#
        #expect(try await a.admin("tenants/demo/blocks", "PUT", body: device).status == 200)
        let ended = try await Self.until(403) { try await beat() }
        #expect(ended.text.contains("deviceBlocked"), "\(ended.text)")
    }

    @Test func `with PostgreSQL down each node refuses who is blocked, also after a restart, and can block more`()
        async throws
    {
        let server = try await PostgreSQLProcess()
        let stage = try await CheckStage(over: server)
        try stage.folder.edit(["tenants.demo.unlisted": nil])
        let (a, b) = (try await Self.node("a", stage), try await Self.node("b", stage))
        try await a.importKeys(1...1)
        let tokens = try ["viewer-7", "viewer-8", "viewer-9"].map { try a.token($0) }
        for node in [a, b] { #expect(try await node.license(1, token: tokens[0]).status == 200) }
        #expect(try await a.admin("tenants/demo/blocks", "PUT", body: Self.viewer).status == 200)
        await b.tick()
        try await server.stop()
        for node in [a, b] {
            while !node.server.shared.engines.keys.isAway { await node.server.shared.engines.keys.probe() }
            while !node.server.shared.engines.auditGuard.health.isAway {
                await node.server.shared.engines.auditGuard.probe()
            }
            #expect(try await node.license(1, token: tokens[0]).status == 403)
            #expect(try await node.license(1, token: tokens[1]).status == 200)
        }
        let more = Self.viewer.replacing("viewer-7", with: "viewer-8")
        let set = try await a.admin("tenants/demo/blocks", "PUT", body: more)
        #expect(set.status == 202 && set.json["stored"] == .flag(false), "\(set.text)")
        #expect(try await a.license(1, token: tokens[1]).status == 403)
        #expect(try await b.license(1, token: tokens[1]).status == 200, "The other node gets the notice.")
        #expect(try await b.admin("tenants/demo/blocks", "PUT", body: more).status == 202)
        let lift = try await b.admin("tenants/demo/blocks?kind=account&name=viewer-7", "DELETE", body: "")
        #expect(lift.status == 503, "\(lift.text)")
        await b.stop(within: .zero)
        let restarted = try await TestServer(stage.folder)
        #expect(try await restarted.license(1, token: tokens[0]).status == 403)
        #expect(try await restarted.license(1, token: tokens[1]).status == 403)
        #expect(try await restarted.license(1, token: tokens[2]).status == 200)

        try await server.start()
        for node in [a, restarted] {
            while node.server.shared.engines.pending?.count != 0 {
                try Task.checkCancellation()
                await node.tick()
            }
        }
        let stored = try await restarted.server.shared.engines.keys.blocks().map(\.subject.name)
        #expect(stored.sorted() == ["viewer-7", "viewer-8"])
    }
}
