import Foundation
import LatchkeyStores
import LatchkeyVendors
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// A running server whose database goes down: licenses, and all reports of the outage.
@Suite(.timeLimit(.minutes(5))) struct OutageTests {
    @Test
    func `for ten minutes without the database licenses continue, blocks hold, and all APIs report it`()
        async throws
    {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        #expect(try await stage.license(2).status == 200)
        #expect(try await stage.admin("tenants/demo/keys/\(TestServer.kid(2))/disable", "POST").status == 200)
        #expect(try await stage.license(2).status == 403)
        #expect(try await stage.ready() == (200, "ready"))
        #expect(try await stage.metric("latchkey_store_outage{store=\"keyStore\",operation=\"read\"}") == 0)

        stage.database.setDown(true)
        for _ in 0..<20 { await stage.tick() }
        #expect(try await stage.license(1).status == 200)
        #expect(try await stage.license(2).status == 403)
        #expect(try await stage.license(9).status == 503)
        #expect(try await stage.ready() == (200, "degraded"))
        for engine in ["keyStore", "auditStore"] {
            #expect(try await stage.metric("latchkey_store_outage{store=\"\(engine)\",operation=\"write\"}") == 1)
        }
        #expect(try await stage.metric("latchkey_key_lookups_total{from=\"stale\"}") == 1)
        let overview = try await stage.admin("overview").text
        #expect(overview.contains("The key store does not answer."))

        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.license(9).status == 404)
        #expect(try await stage.ready() == (200, "ready"))
        #expect(try await stage.metric("latchkey_store_outage{store=\"keyStore\",operation=\"read\"}") == 0)
        await stage.stop(within: .zero)
        let log = await stage.log
        #expect(log.contains("The key store does not answer.") && log.contains("The key store answers again."))
    }

    @Test func `a key disabled during an outage is later disabled in the store and audited`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        await stage.tick()
        let done = try await stage.admin("tenants/demo/keys/\(TestServer.kid(1))/disable", "POST")
        #expect(done.status == 202)
        #expect(done.json["stored"] == .flag(false))
        #expect(try await stage.license(1).status == 403)
        // An action that hands out keys must be in the audit before it is done.
        let enabled = try await stage.admin("tenants/demo/keys/\(TestServer.kid(1))/enable", "POST")
        #expect(enabled.status == 503)
        await stage.server.lookAtEngines()
        #expect(try await stage.metric("latchkey_pending_changes") == 1)
        #expect(try await stage.metric("latchkey_pending_audit_entries") == 1)
        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.database.inner.rows([TestServer.keyID(1)], of: "demo").first?.isDisabled == true)
        #expect(try await stage.license(1).status == 403)
        #expect(try await stage.metric("latchkey_pending_changes") == 0)
        let events = try await stage.audit()
        #expect(events.contains("keyDisabled demo/\(TestServer.kid(1)) by admin:security-1"))
    }

    @Test func `changes made while the store was away are read when it returns, whoever notices`()
        async throws
    {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        await stage.tick()
        stage.database.setDown(false)
        _ = try await stage.database.inner.setDisabled(true, TestServer.keyID(1), of: "demo")
        // As a viewer does when asking for another key.
        await stage.server.shared.engines.keys.probe()
        #expect(!stage.server.shared.engines.keys.isAway)
        await stage.server.lookAtEngines()
        #expect(try await stage.license(1).status == 403)
    }

    @Test(arguments: [false, true])
    func `an idle server detects a changed or unreadable audit`(_ isDamaged: Bool)
        async throws
    {
        let time = ManualTimekeeper(date: Date())
        let stage = try await TestServer.switched(time: time)
        let watch = Task { [server = stage.server] in await server.watchAudit() }
        func round() async throws -> Double? {
            await time.untilSomeoneSleeps(for: .seconds(120))
            time.advance(by: .seconds(120))
            await time.untilSomeoneSleeps(for: .seconds(120))
            return try await stage.metric("latchkey_audit_intact")
        }
        #expect(try await round() == 1)
        let last = try #require(try await stage.database.last())
        let forged = AuditEntry(sequence: last.sequence + 1, text: last.text, previous: last.hash, hash: last.hash)
        if isDamaged { stage.database.damageEntries() } else { #expect(try await stage.database.append(forged)) }
        #expect(try await round() == 0)
        watch.cancel()
        await watch.value
        let words = isDamaged ? "An entry cannot be read." : "The audit is broken at entry \(forged.sequence)"
        #expect(await stage.lines(words).count == 1)
    }

    @Test func `a sign-in during an outage waits as an entry, not a change`() async throws {
        let stage = try await TestServer.switched()
        stage.database.setDown(true)
        await stage.tick()
        #expect(try await stage.admin("sign-in", "POST").status == 200)
        let overview = try await stage.admin("overview")
        #expect(overview.json["pending"]?.number == 0)
        let notices = overview.json["notices"]?.texts ?? []
        #expect(notices.contains("Entries of this node wait for the audit's store: 1."), "\(notices)")
        #expect(!notices.contains { $0.contains("only on this node") })
        #expect(try await stage.metric("latchkey_pending_changes") == 0)
        #expect(try await stage.metric("latchkey_pending_audit_entries") == 1)
        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.metric("latchkey_pending_audit_entries") == 0)
        #expect(try await stage.audit().contains("adminLogin admin:security-1 by admin:security-1"))
    }

    @Test func `a session is stopped while the audit's database is down`() async throws {
        let stage = try await TestServer.switched()
        let token = try stage.token("viewer-1")
        #expect(try await stage.license(1, token: token).status == 200)
        let slots = try await stage.admin("tenants/demo/account?name=viewer-1").list("slots")
        let session = try #require(slots.first?["session"]?.text)
        stage.database.setDown(true)
        await stage.tick()
        let body = #"{"account":"viewer-1","session":"\#(session)"}"#
        #expect(try await stage.admin("tenants/demo/sessions/stop", "POST", body: body).status == 200)
        #expect(try await stage.license(1, token: token).status == 403)
        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.audit().contains("sessionStopped demo/viewer-1 by admin:security-1"))
    }

    @Test func `a session stopped while its store was down is later stopped in the store`() async throws {
        let stage = try await TestServer.switched()
        let token = try stage.token("viewer-1")
        #expect(try await stage.license(1, token: token).status == 200)
        let slots = try await stage.admin("tenants/demo/account?name=viewer-1").list("slots")
        let session = try #require(slots.first?["session"]?.text)
        stage.database.sessions.setDown(true)
        let body = #"{"account":"viewer-1","session":"\#(session)"}"#
        #expect(try await stage.admin("tenants/demo/sessions/stop", "POST", body: body).status == 202)
        stage.database.sessions.setDown(false)
        await stage.tick()
        // As another node finds it.
        let other = AccountSessions(accounts: stage.database.sessions.inner, secrets: [])
        #expect(try await other.account("viewer-1", of: "demo").slots.isEmpty)
        #expect(await stage.log.contains("Changes made while stores were unavailable have reached them: 1."))
    }

    @Test func `a node that starts during an outage licenses from its copy, and counts it`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        let next = try await stage.restarted()
        #expect(try await next.license(1).status == 200)
        #expect(try await next.license(9).status == 503)
        #expect(try await next.ready() == (200, "degraded"))
        #expect(try await next.metric("latchkey_key_lookups_total{from=\"copy\"}") == 1)
        #expect(try await next.metric("latchkey_node_copy_keys") ?? 0 >= 1)
    }

    @Test func `a reload during an outage keeps known keys`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        stage.database.setDown(true)
        await stage.tick()
        try await stage.server.reload()
        #expect(try await stage.license(1).status == 200)
    }

    @Test func `a key without a row gets no license unless the tenant derives keys; log and metric say so`()
        async throws
    {
        let strict = try await TestServer.switched()
        #expect(try await strict.license(9).status == 404)
        await strict.stop(within: .zero)
        // The demonstration's tenant derives keys that were never packaged.
        let stage = try await TestServer()
        let id = "never-packaged-1"
        #expect(try await stage.license(headers: ["X-Request-Id": id]).0.status == 200)
        let record = try #require(stage.server.shared.decisions.record(of: id))
        #expect(record.explanation.contains("never packaged here"))
        #expect(try await stage.metric(#"latchkey_key_lookups_total{from="unlisted"}"#) == 1)
        await stage.stop()
        let log = await stage.log
        #expect(log.contains(#""key_from":"unlisted""#))
    }
}
