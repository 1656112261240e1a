import LatchkeyCore
package import LatchkeySystem

extension PostgreSQLStore {
    /// Does a kind of work in a form that changes nothing. It needs the same rights and locks as the work, and commits a write to the
    /// disk, and to the standbys for which a commit waits: a message without a recipient. A disk without room for another page is full.
    /// - Throws: the errors of `open` and of the work.
    package func probe(_ role: EngineRole, _ operation: EngineOperation) async throws(StoreError) {
        let limit = settings.keyLimit
        if operation != .listen {
            try await readers.ask { pool throws(StoreError) in
                try await PostgreSQLSchema.check(pool, within: limit)
                if operation == .read { try await Self.probe(pool, commits: commits, role, .read, within: limit) }
            }
        }
        try await Self.checkSessions(records, work, within: limit)
        if operation == .write { try await Self.probe(work, commits: commits, role, .write, within: limit) }
        if operation == .listen { try await listener.withLock { $0 }?.probe(over: work, within: limit) }
    }

    /// Checks that two sessions have separate connections: a transaction pooler gives both the same one in turn, and then neither
    /// `LISTEN` nor `synchronous_commit` holds for the session that asked for it.
    /// - Throws: `storeMisconfigured` if they do not. A database that does not answer proves nothing.
    static func checkSessions(
        _ one: PostgreSQLPool, _ other: PostgreSQLPool, within limit: Duration
    ) async throws(StoreError) {
        let call = PostgreSQLCall("probe-session", "SELECT pg_backend_pid()::bigint")
        do throws(StoreError) {
            for _ in 1...4 {
                let first = try await one.run(call, within: limit).rows.first?.integer(0)
                let second = try await other.run(call, within: limit).rows.first?.integer(0)
                guard first != second else { throw PostgreSQLFailure("42P05").error }
            }
        } catch {
            if error.kind == .misconfigured { throw error }
        }
    }

    /// Sorts more than fits into its memory: a change may find room in existing pages when there is none for a new page.
    private static let room = PostgreSQLCall(
        "probe-room",
        "SELECT count(*) FROM (SELECT repeat('x', 1024) || n AS text FROM generate_series(1, 128) AS n ORDER BY text OFFSET 0) AS sorted"
    )

    /// - Parameters:
    ///   - pool: connections for the statements.
    ///   - commits: a connection for the commit.
    ///   - limit: how long each may take.
    static func probe(
        _ pool: PostgreSQLPool, commits: PostgreSQLPool, _ role: EngineRole, _ operation: EngineOperation,
        within limit: Duration
    ) async throws(StoreError) {
        let tables =
            switch role {
            case .auditStore: ["audit"]
            case .sessionStore: ["records"]
            case .record: ["license_records"]
            default: ["keys", "seeds", "data_keys", "blocks"]
            }
        func calls(_ name: String, of tables: [String], _ sql: (String) -> String) -> [PostgreSQLCall] {
            tables.map { PostgreSQLCall("probe-\(name)-\($0)", sql("latchkey.\($0)")) }
        }
        // A statement that waits for a lock holds up everything behind it, so it gets half of the time.
        let patience = PostgreSQLCall(
            "probe-patience", "SELECT set_config('lock_timeout', $1, true), set_config('work_mem', '64', true)",
            [.text("\((limit / 2).wholeMilliseconds)")])
        guard operation == .write else {
            let identity = role == .keyStore ? ["identity"] : []
            _ = try await pool.run(
                [patience] + calls("read", of: tables + identity) { "SELECT FROM \($0) WHERE false" }, within: limit)
            return
        }
        let inserts = calls("insert", of: tables) { "INSERT INTO \($0) SELECT * FROM \($0) WHERE false" }
        // The audit only grows.
        let updates =
            calls("update", of: tables) { "UPDATE \($0) SET tenant = tenant WHERE false" }
            + (role == .keyStore ? [PostgreSQLSchema.setNothingAside] : [])
        _ = try await pool.run(
            [patience, room] + inserts + (role == .auditStore ? [] : updates), within: limit)
        let commit = PostgreSQLCall("probe-commit", "SELECT pg_logical_emit_message(true, 'latchkey', 'probe')::text")
        _ = try await commits.run(commit, within: limit)
    }
}
