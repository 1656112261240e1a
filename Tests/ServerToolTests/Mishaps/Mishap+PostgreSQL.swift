import Foundation
import LatchkeyLicensing
import LatchkeySystem
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import StoreProcesses
@testable import TestServers

extension Mishap {
    private static func postgreSQL(
        _ name: String, stage: @escaping @Sendable () async throws -> CheckStage = CheckStage.ofRole,
        make: @escaping Step = { _ in }, undo: @escaping Step = { _ in },
        proof: @escaping @Sendable (CheckStage, TestServer) async throws -> Void = { _, _ in }
    ) -> Self { Self("PostgreSQL", name, stage: stage, make: make, undo: undo, proof: proof) }

    /// One that a statement of the owner makes, and another one undoes.
    private static func statement(
        _ name: String, _ make: @escaping @Sendable (CheckStage) -> String,
        _ undo: @escaping @Sendable (CheckStage) -> String
    ) -> Self {
        postgreSQL(name, make: { try await $0.asOwner(make($0)) }, undo: { try await $0.asOwner(undo($0)) })
    }

    private static func readOnly(
        _ name: String, stage: @escaping @Sendable () async throws -> CheckStage = CheckStage.ofRole,
        passing words: [String] = []
    ) -> Self {
        postgreSQL(
            name, stage: stage,
            make: { stage in
                try await stage.asOwner("ALTER ROLE \(stage.role) SET default_transaction_read_only = on")
                try await stage.dropConnections()
            },
            undo: { stage in
                try await stage.asOwner("ALTER ROLE \(stage.role) RESET default_transaction_read_only")
                try await stage.dropConnections()
            }, proof: startsAnew
        )
        // Requests that were under way when their connection was ended are sent again.
        .passing(["SQLSTATE 57P01", "The key store answers again."] + words)
    }

    /// A node without a copy starts, and licenses keys that it has never read.
    private static let startsAnew: @Sendable (CheckStage, TestServer) async throws -> Void = { stage, _ in
        try stage.folder.edit(["stores.copy": nil])
        let file = try ConfigurationFile(stage.folder.configuration)
        let engines = try await ServerEngines.open(file, limits: .patient)
        let next = TestServer(stage.folder, try await LicenseServer(file, lines: LineWriter { _ in }, engines: engines))
        #expect(try await next.license(2).status == 200)
        await next.stop(within: .zero)
    }

    static let ofPostgreSQL = [
        postgreSQL(
            "killed", stage: CheckStage.alone, make: { try await $0.server.stop() },
            undo: { try await $0.server.start() }),
        postgreSQL(
            "hangs", stage: CheckStage.alone, make: { try $0.server.hang(true) }, undo: { try $0.server.hang(false) }
        ).withUsualLimits,
        postgreSQL(
            "a standby in the primary's place", stage: CheckStage.alone,
            make: { try await $0.server.restart(asStandby: true) },
            undo: { try await $0.server.restart(asStandby: false) }, proof: startsAnew
        ).passing(["The key store answers again."]),
        readOnly("read-only"),
        readOnly(
            "read-only, and the address has `target_session_attrs=any`",
            stage: { try await .ofRole(parameters: "&target_session_attrs=any") },
            // Until the listener has connected again; it may listen here.
            passing: ["The key store reports no changes.", "The key store reports changes again."]),
        postgreSQL(
            "a commit waits for a standby that is not there", stage: CheckStage.alone,
            make: { stage in
                try await stage.asOwner("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
                try await stage.asOwner("SELECT pg_reload_conf()")
            },
            undo: { stage in
                try await stage.asOwner("ALTER SYSTEM RESET synchronous_standby_names")
                try await stage.asOwner("SELECT pg_reload_conf()")
            },
            proof: { stage, node in
                // However long it lasts, PostgreSQL keeps no process for each look.
                let before = try await stage.waitingCommits()
                for _ in 0..<4 { await node.server.shared.look(atLeastEvery: .zero) }
                #expect(try await stage.waitingCommits() <= before)
            }
        ).withUsualLimits,
        statement(
            "`INSERT` on `latchkey.audit` is revoked", { "REVOKE INSERT ON latchkey.audit FROM \($0.role)" },
            { "GRANT INSERT ON latchkey.audit TO \($0.role)" }),
        statement(
            "`INSERT` on `latchkey.keys` is revoked", { "REVOKE INSERT ON latchkey.keys FROM \($0.role)" },
            { "GRANT INSERT ON latchkey.keys TO \($0.role)" }),
        statement(
            "`UPDATE` on `latchkey.data_keys` is revoked", { "REVOKE UPDATE ON latchkey.data_keys FROM \($0.role)" },
            { "GRANT UPDATE ON latchkey.data_keys TO \($0.role)" }),
        statement(
            "`EXECUTE` on `latchkey.set_key_aside` is revoked",
            { "REVOKE EXECUTE ON FUNCTION latchkey.set_key_aside FROM \($0.role)" },
            { "GRANT EXECUTE ON FUNCTION latchkey.set_key_aside TO \($0.role)" }),
        postgreSQL(
            "`EXECUTE` on `latchkey.make_record_day` is revoked", stage: CheckStage.recording,
            make: { try await $0.asOwner("REVOKE EXECUTE ON FUNCTION latchkey.make_record_day FROM \($0.role)") },
            undo: { try await $0.asOwner("GRANT EXECUTE ON FUNCTION latchkey.make_record_day TO \($0.role)") }
        ).withinHalfMinutes,
        postgreSQL(
            "killed, as the record's destination",
            stage: {
                let stage = try await CheckStage()
                let destination = try await PostgreSQLProcess()
                stage.keep(destination)
                let address = try await destination.address(of: destination.database()).revealedText
                try await Stores.migrate(StoreAddress(address))
                try stage.folder.edit(["record": ["folder": "spool", "destination": .text(address)]])
                return stage
            },
            make: { try await $0.kept(PostgreSQLProcess.self)?.stop() },
            undo: { try await $0.kept(PostgreSQLProcess.self)?.start() }
        ).withinHalfMinutes,
        postgreSQL(
            "its connection for `LISTEN` is ended, and the role's `CONNECTION LIMIT` prevents another one",
            make: { stage in
                // A node's other connections.
                try await stage.asOwner("ALTER ROLE \(stage.role) CONNECTION LIMIT 5")
                try await stage.asOwner(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(stage.role)' AND query LIKE 'LISTEN%'"
                )
            },
            undo: { try await $0.asOwner("ALTER ROLE \($0.role) CONNECTION LIMIT -1") },
            proof: { stage, node in
                // Half a minute later, the node has another node's takedown.
                try await stage.asOwner("UPDATE latchkey.keys SET disabled = true WHERE kid = '\(TestServer.kid(2))'")
                await node.server.apply(.everything)
                #expect(try await node.license(2).status == 403)
            }
        ).withUsualLimits,
        postgreSQL(
            "keys and audit are locked", make: { try await $0.lock("keys, latchkey.audit", "ACCESS EXCLUSIVE") },
            undo: { $0.letGo() }
        ).withUsualLimits,
        postgreSQL(
            "keys and audit are locked for writes", make: { try await $0.lock("keys, latchkey.audit", "EXCLUSIVE") },
            undo: { $0.letGo() }
        ).withUsualLimits,
        postgreSQL(
            "the role's `DateStyle`, `TimeZone` and `bytea_output` are others",
            stage: {
                let stage = try await CheckStage.recording()
                for setting in ["datestyle = 'SQL, DMY'", "timezone = 'Asia/Kolkata'", "bytea_output = 'escape'"] {
                    try await stage.asOwner("ALTER ROLE \(stage.role) SET \(setting)")
                }
                return stage
            },
            proof: { stage, node in
                let number = Int.random(in: 1_000...9_999)
                try await node.importKeys([number])
                #expect(try await node.license(number).status == 200)
                await node.server.shared.record?.close(within: .seconds(60))
                let rows = try await stage.server.query(
                    """
                    SELECT count(*), count(*) FILTER (WHERE abs(extract(epoch FROM time - now())) < 600)
                    FROM latchkey.license_records
                    """, in: stage.database)
                let counts = try #require(try rows.first.map { try [$0.integer(0), $0.integer(1)] })
                #expect(counts[0] > 0 && counts[0] == counts[1], "Rows are of another time than now.")
            }),
        postgreSQL(
            "the role's password is another one than in `passfile`",
            stage: {
                let stage = try await CheckStage.ofRole { "\($0.folder.url.path)/passfile" }
                try stage.secret("*:*:*:*:\(PostgreSQLProcess.password)", to: "passfile")
                return stage
            },
            make: { stage in
                try await stage.asOwner("ALTER ROLE \(stage.role) PASSWORD 'another'")
                try await stage.dropConnections()
            },
            undo: { try $0.secret("*:*:*:*:another", to: "passfile") }),
        postgreSQL(
            "older than the node's last view",
            stage: {
                let stage = try await CheckStage()
                let node = try await TestServer(stage.folder)
                try await node.importKeys(1...1)
                await node.stop(within: .zero)
                try await stage.server.query(
                    "CREATE DATABASE \(stage.database)_older TEMPLATE \(stage.database)", in: "postgres")
                return stage
            },
            make: { try await $0.exchange("older", keeping: "newer") },
            undo: { try await $0.exchange("newer", keeping: "older") }
        ).passing([
            "SQLSTATE 3D000", "SQLSTATE 55000", "SQLSTATE 57P01", "The connection to PostgreSQL ended.", " again.",
        ]),
    ]

    static let ofPoolers = [
        postgreSQL(
            "behind PgBouncer, by session", stage: CheckStage.pooled,
            proof: { stage, node in
                // Another node's changes are heard through the pooler.
                try await stage.asOwner("UPDATE latchkey.keys SET disabled = true WHERE kid = '\(TestServer.kid(2))'")
                try await stage.asOwner("NOTIFY latchkey_keys, 'demo:'")
                while try await node.license(2).status == 200 {}
            }),
        postgreSQL(
            "behind PgBouncer, by transaction", stage: CheckStage.pooled,
            make: { try $0.pooler?.pool(by: "transaction", $0.database) },
            undo: { try $0.pooler?.pool(by: "session", $0.database) }
        ).withUsualLimits,
    ]
}

extension CheckStage {
    /// The role of a node that owns nothing.
    var role: String { "node_\(database)" }

    /// With a separate PostgreSQL.
    static func alone() async throws -> CheckStage {
        let stage = try await CheckStage(over: PostgreSQLProcess())
        try await stage.takeRole()
        return stage
    }

    static func ofRole() async throws -> CheckStage { try await ofRole(parameters: "") }

    /// With a node whose role owns nothing.
    static func ofRole(
        parameters: String = "", passwordFile: (CheckStage) -> String? = { _ in nil }
    ) async throws -> CheckStage {
        let stage = try await CheckStage()
        try await stage.takeRole(parameters, passwordFile: passwordFile(stage))
        return stage
    }

    /// With a record in the database.
    static func recording() async throws -> CheckStage {
        let stage = try await ofRole()
        let address = stage.server.address(of: stage.database, role: stage.role).revealedText
        try stage.folder.edit(["record": ["folder": "spool", "destination": .text(address)]])
        return stage
    }

    /// With a pooler between a node's role and a separate PostgreSQL.
    static func pooled() async throws -> CheckStage {
        let stage = try await alone()
        try await stage.pool(stage.role)
        return stage
    }

    func takeRole(_ parameters: String = "", passwordFile: String? = nil) async throws {
        try await asOwner("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'")
        try await Stores.migrate(.postgresql(server.address(of: database)), granting: role)
        let address = server.address(of: database, role: role, passwordFile: passwordFile).revealedText + parameters
        try folder.edit(["stores.keys": .text(address), "stores.audit": .text(address)])
    }

    /// How many processes of PostgreSQL wait for a standby.
    func waitingCommits() async throws -> Int64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        return try await server.query(sql, in: "postgres").first?.integer(0) ?? 0
    }

    /// Runs a statement.
    func asOwner(_ sql: String) async throws { try await server.query(sql, in: database) }

    /// Ends the node's connections, because a fault that affects only new ones would take time to show.
    func dropConnections() async throws {
        try await server.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(role)' AND datname = '\(database)'",
            in: "postgres")
    }

    /// Locks tables by a transaction that ends when it is let go.
    func lock(_ tables: String, _ mode: String) async throws {
        let setup = PostgreSQLLane.Setup(
            hosts: try PostgreSQLHosts(server.address(of: database)), isDurable: false, statementLimit: .seconds(120))
        let lane = try PostgreSQLLane(setup, name: "locker")
        for sql in ["BEGIN", "LOCK TABLE latchkey.\(tables) IN \(mode) MODE"] {
            _ = await withCheckedContinuation { done in
                lane.add(
                    PostgreSQLJob(calls: [PostgreSQLCall(sql, sql)], deadline: .now + .seconds(60)) {
                        done.resume(returning: $0)
                    })
            }
        }
        keep(lane)
    }

    /// Replaces this database by another one, and keeps its name for later.
    func exchange(_ other: String, keeping name: String) async throws {
        for sql in [
            "ALTER DATABASE \(database) ALLOW_CONNECTIONS false",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'",
            "ALTER DATABASE \(database) RENAME TO \(database)_\(name)",
            "ALTER DATABASE \(database)_\(other) RENAME TO \(database)",
            "ALTER DATABASE \(database) ALLOW_CONNECTIONS true",
        ] { try await server.query(sql, in: "postgres") }
    }
}
