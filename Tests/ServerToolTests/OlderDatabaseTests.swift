import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTerminal
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

/// A database that is older than the node's last look: a takedown stays in force, every operator view says why, and a verb accepts it.
@Suite(.timeLimit(.minutes(3))) struct OlderDatabaseTests {
    private static let words = "The database is older than this node's last view of it"

    @Test func `readiness, metric, log and console name a database rolled back while the node runs`() async throws {
        let stage = try await TestServer.switched()
        #expect(try await stage.license(1).status == 200)
        #expect(try await stage.metric("latchkey_store_behind") == 0)
        let before = try #require(try await stage.database.last()).sequence
        #expect(try await stage.admin("tenants/demo/keys/\(TestServer.kid(1))/disable", "POST").status == 200)
        #expect(try await stage.license(1).status == 403)

        try await stage.database.putBack(to: before)
        _ = try await stage.database.inner.setDisabled(false, TestServer.keyID(1), of: "demo")
        await stage.tick()
        #expect(try await stage.license(1).status == 403)
        #expect(try await stage.license(2).status == 200)
        #expect(try await stage.admin("tenants/demo/keys/\(TestServer.kid(1))/enable", "POST").status == 503)
        #expect(try await stage.ready() == (200, "degraded"))
        #expect(try await stage.operators("readyz?verbose").text.contains(Self.words))
        #expect(try await stage.metric("latchkey_store_behind") == 1)
        #expect(try await stage.admin("overview").text.contains(Self.words))
        let next = try await stage.restarted()
        #expect(try await next.license(1).status == 403)
        #expect(await stage.lines(Self.words, "latchkey-server copy accept").count == 1)
        #expect(await next.lines(Self.words).count == 1)
    }

    @Test func `on a current database the verb changes nothing and explains a node without a copy`()
        async throws
    {
        let folder = try ServerFolder()
        try await folder.makeTenants()
        let none = await ToolRun("copy", "accept", "--config", folder.configuration)
        #expect(none.status == .no && none.error.contains("Restart the node"), "\(none.error)")
        try folder.edit(["stores.copy": "sqlite:copy.db"])
        let right = await ToolRun("copy", "accept", "--config", folder.configuration)
        #expect(right.status == .yes && right.output.contains("nothing changed"), "\(right.error)")
    }

    @Test func `the check reports a change of the newest audit entry`() async throws {
        let folder = try ServerFolder()
        try await folder.makeTenants()
        try folder.edit(["stores.copy": "sqlite:copy.db"])
        let node = try await TestServer(folder)
        try await node.importKeys(1...1)
        await node.stop(within: .zero)
        #expect(try await ServerCheck(folder.configuration, derivation: nil).problems.lines == [])
        let connection = try SQLiteConnection(path: folder.file("latchkey.db").path, busy: .seconds(5))
        try connection.execute("DROP TRIGGER audit_stays; UPDATE audit SET hash = x'00'")
        let problems = try await ServerCheck(folder.configuration, derivation: nil).problems.problems
        #expect(problems.map(\.place) == ["stores.copy"], "\(problems)")
    }

    /// Common to `pg_restore` and a former primary: the same fingerprint, and less data.
    @Test(.enabled(if: CheckStage.isInstalled, "PostgreSQL or Redis is not installed."))
    func
        `an older PostgreSQL undoes no takedown, of a node that runs and of one that starts, until an operator accepts it`()
        async throws
    {
        let stage = try await CheckStage()
        let (postgreSQL, database) = (stage.server, stage.database)
        try stage.folder.edit(["tenants.demo.unlisted": nil])
        let first = try await TestServer(stage.folder)
        try await first.importKeys(1...2)
        #expect(try await first.license(1).status == 200)
        await first.stop(within: .zero)
        try await postgreSQL.query("CREATE DATABASE \(database)_older TEMPLATE \(database)", in: "postgres")

        let node = try await TestServer(stage.folder)
        #expect(try await node.license(1).status == 200)
        #expect(try await node.admin("tenants/demo/keys/\(TestServer.kid(1))/disable", "POST").status == 200)
        #expect(try await node.license(1).status == 403)
        #expect(await stage.check().status == .yes)

        for sql in [
            "ALTER DATABASE \(database) ALLOW_CONNECTIONS false",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'",
            "ALTER DATABASE \(database) RENAME TO \(database)_newer",
            "ALTER DATABASE \(database)_older RENAME TO \(database)",
        ] { try await postgreSQL.query(sql, in: "postgres") }
        let keys = node.server.shared.engines.keys
        repeat {
            #expect(try await node.license(1).status == 403)
            await keys.probe()
        } while keys.isAway
        #expect(keys.age?.setback != nil)
        await node.tick()
        #expect(try await node.license(1).status == 403)
        await node.stop(within: .zero)

        let restarted = try await TestServer(stage.folder)
        #expect(try await restarted.license(1).status == 403)
        #expect(try await restarted.license(2).status == 200)
        let check = await stage.check()
        #expect(check.status == .no && check.error.contains("stores.copy: \(Self.words)"), "\(check.error)")

        let accepted = await ToolRun("copy", "accept", "--config", stage.folder.configuration)
        #expect(
            accepted.status == .yes && accepted.output.contains("accepts its stores as they are"), "\(accepted.error)")
        await restarted.tick()
        #expect(try await restarted.license(1).status == 200)
        #expect(try await restarted.metric("latchkey_store_behind") == 0)
        #expect(try await restarted.audit().contains { $0.hasPrefix("olderAccepted database by node:") })
        #expect(await stage.check().status == .yes)
    }
}
