import Foundation
import LatchkeyCore
import LatchkeySystem

/// Checks PostgreSQL without changing it: tables, sessions, the role's rights, standby, clock, locks, room, and whether a commit ends.
///
/// Source: `Documentation/Server/Stores.md`.
extension PostgreSQLStore {
    /// A node's required rights for each thing that it keeps: table or function, and the right.
    private static func needs(_ use: StoreUse) -> [(object: String, right: String)] {
        func rights(_ table: String, _ rights: String...) -> [(String, String)] {
            rights.map { ("latchkey.\(table)", $0) }
        }
        switch use {
        case .sessions: return rights("records", "SELECT", "INSERT", "UPDATE", "DELETE")
        case .audit: return rights("audit", "SELECT", "INSERT")
        case .keys:
            return ["keys", "seeds", "data_keys"].flatMap { rights($0, "SELECT", "INSERT", "UPDATE") }
                + rights("blocks", "SELECT", "INSERT", "UPDATE", "DELETE") + rights("identity", "SELECT") + [
                    ("latchkey.\(PostgreSQLSchema.setAsideSignature)", "EXECUTE")
                ]
        }
    }

    /// How long a check waits for each kind of work.
    static let patience = Duration.seconds(6)

    static func findings(at address: Secret, for uses: Set<StoreUse>) async -> [StoreFinding] {
        do throws(StoreError) {
            let setup = PostgreSQLLane.Setup(
                hosts: try PostgreSQLHosts(address), isDurable: true, statementLimit: .seconds(5))
            let pool = try PostgreSQLPool(setup, count: 1, name: "check")
            defer { pool.close() }
            // Also if there are no tables: then nothing else is worth checking.
            try await PostgreSQLSchema.check(pool, within: .seconds(10))
            let other = try PostgreSQLPool(setup, count: 1, name: "check-session")
            defer { other.close() }
            try await checkSessions(pool, other, within: .seconds(5))
            let standing = try await standing(pool)
            let findings = try await rights(pool, uses) + standing.findings
            guard findings.allSatisfy({ !$0.isFault }) else { return findings }
            if let fault = try await work(pool, uses, standing.isReadOnly ? [.read] : [.read, .write]) {
                return findings + [fault]
            }
            guard uses.contains(.keys), !standing.isReadOnly else { return findings }
            let listener = try PostgreSQLListener(setup) { _ in }
            defer { listener.close() }
            do throws(StoreError) { try await listener.probe(over: pool, within: patience) } catch {
                return findings + [
                    .fault(error, at: "\(EngineRole.keyStore.words) \(EngineOperation.listen.words.away)")
                ]
            }
            return findings
        } catch {
            return [.fault(error)]
        }
    }

    /// Does a node's work in the form in which nodes do it every few seconds.
    private static func work(
        _ pool: PostgreSQLPool, _ uses: Set<StoreUse>, _ operations: [EngineOperation]
    ) async throws(StoreError) -> StoreFinding? {
        let roles = [(StoreUse.keys, EngineRole.keyStore), (.audit, .auditStore), (.sessions, .sessionStore)]
        for (use, role) in roles where uses.contains(use) {
            for operation in operations {
                do throws(StoreError) {
                    try await probe(pool, commits: pool, role, operation, within: patience)
                } catch {
                    var fault = StoreFinding.fault(error, at: "\(role.words) \(operation.words.away)")
                    fault.outage = operation == .read ? role : nil
                    return fault
                }
            }
        }
        return nil
    }

    private static func rights(
        _ pool: PostgreSQLPool, _ uses: Set<StoreUse>
    ) async throws(StoreError) -> [StoreFinding] {
        let needs = StoreUse.allCases.filter(uses.contains).flatMap(needs)
        let sql = """
            SELECT object || ' ' || wanted FROM unnest($1::text[], $2::text[]) AS need (object, wanted)
            WHERE NOT coalesce(CASE WHEN wanted = 'EXECUTE'
                THEN has_function_privilege(to_regprocedure(object)::oid, wanted)
                ELSE has_table_privilege(to_regclass(object)::oid, wanted) END, false)
            """
        let answer = try await pool.run(
            PostgreSQLCall(
                "check-rights", sql,
                [.array(.text, needs.map { .text($0.object) }), .array(.text, needs.map { .text($0.right) })]),
            within: .seconds(5))
        var missing: [String] = []
        for row in answer.rows { missing.append(String(decoding: try row.bytes(0), as: UTF8.self)) }
        guard !missing.isEmpty else { return [] }
        return [
            .fault(
                "The role of PostgreSQL lacks rights: \(missing.joined(separator: ", ")).",
                "Run latchkey-server migrate as the tables' owner with --grant, which grants a node's role the rights it needs."
            )
        ]
    }

    private static func standing(
        _ pool: PostgreSQLPool
    ) async throws(StoreError) -> (findings: [StoreFinding], isReadOnly: Bool) {
        let start = Date()
        let answer = try await pool.run(
            PostgreSQLCall(
                "check-standing",
                "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', clock_timestamp()"),
            within: .seconds(5))
        guard let row = answer.rows.first else { return ([], false) }
        var findings = StoreFinding.clock(try row.date(1), between: start, and: Date())
        let isReadOnly = try row.flag(0)
        if isReadOnly {
            findings.append(
                .notice(
                    "PostgreSQL accepts no changes here: it is a standby, or read-only.",
                    "Use the primary's address, unless this node only issues licenses for existing keys."))
        }
        return (findings, isReadOnly)
    }
}
