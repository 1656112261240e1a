import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem
package import LatchkeyVault

/// A node's own copy of a store of keys, in one file that no other user may read.
///
/// Keeping does not wait: it goes through a queue to a separate thread. Beyond the limit, the rows that the store was not asked about for
/// the longest time are dropped first.
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package final class SQLiteNodeCopy: NodeCopy {
    /// The limits of a copy.
    package struct Limits: Sendable {
        /// The most rows. Defaults to 200,000, which take some 100 MB.
        package var rows = 200_000
        /// The most changes waiting for the store. Defaults to 10,000.
        package var changes = 10_000

        package init() {}
    }

    /// A row that is in use is marked once in this time, so that most rereads write nothing.
    private static let mark = Duration.seconds(86_400)

    let writer: SQLiteLane
    private let reader: SQLiteLane
    private let limits: Limits
    private let timekeeper: any Timekeeper
    private let failed = Locked<StoreError?>(nil)

    package var failure: StoreError? { failed.withLock { $0 } }

    /// Opens a file, and creates it with mode 0600 if needed.
    /// - Parameters:
    ///   - path: the file, in an existing folder.
    ///   - limits: the limits of the copy.
    ///   - timekeeper: the time. Defaults to the machine's.
    /// - Throws: `storeMisconfigured` for a file that cannot be opened or that others can read, `storeDamaged` for another program's file
    ///   or a store's.
    package init(
        path: String, limits: Limits = Limits(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(StoreError) {
        try SQLiteFile.prepare(path, for: .serving)
        let first = try SQLiteConnection(path: path, busy: .seconds(5))
        try SQLiteSchema.copy.migrate(first)
        // The newest entry of the audit, `NUMBER:HASH`. No migration: an earlier version still opens the file after a downgrade.
        // The same applies to the marks of stores, `NAME:VERSION`, and the blocks.
        try first.execute(
            """
            CREATE TABLE IF NOT EXISTS seen (one INTEGER PRIMARY KEY CHECK (one = 1), anchor TEXT NOT NULL) STRICT;
            CREATE TABLE IF NOT EXISTS marks (store TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT
            """)
        try first.execute(SQLiteSchema.blocks)
        writer = SQLiteLane(first, name: "copy-writer")
        reader = SQLiteLane(try SQLiteConnection(path: path, busy: .seconds(5)), name: "copy-reader")
        self.limits = limits
        self.timekeeper = timekeeper
    }

    /// Ends the threads after the waiting work.
    package func close() {
        for lane in [writer, reader] { lane.close() }
    }

    /// Ends the threads, and waits until the file is closed.
    package func closed() async {
        // The writer last, as in the store.
        reader.close()
        await reader.ended()
        writer.close()
        await writer.ended()
    }

    // MARK: - Keeping

    package func keep(_ rows: [KeyRow]) {
        let (now, limits) = (timekeeper.date, limits)
        guard !rows.isEmpty else { return }
        later { connection throws(StoreError) in
            let before = now.addingTimeInterval(-Self.mark.inSeconds)
            var new = 0
            for row in rows { new += try connection.run(Self.upsert, row.values + [.date(now), .date(before)]) }
            guard new > 0 else { return }
            let count = try connection.number("SELECT count(*) FROM keys")
            guard count > limits.rows else { return }
            // A few more than necessary, so that not every row triggers it.
            try connection.run(
                "DELETE FROM keys WHERE (tenant, kid) IN (SELECT tenant, kid FROM keys ORDER BY seen LIMIT ?1)",
                [.integer(count - Int64(limits.rows) + Int64(limits.rows / 100))])
        }
    }

    package func keep(_ fingerprint: DatabaseFingerprint) {
        later { connection throws(StoreError) in
            try connection.run(
                "INSERT INTO origin (one, fingerprint) VALUES (1, ?1) ON CONFLICT DO NOTHING",
                [.bytes(fingerprint.bytes)])
        }
    }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try await reader.read { connection throws(StoreError) in
            try connection.rows("SELECT fingerprint FROM origin") { row throws(StoreError) in
                try row.fingerprint(0)
            }.first
        }
    }

    package func keep(_ seen: AuditAnchor) {
        later { connection throws(StoreError) in
            if let held = try Self.seen(connection), held.sequence >= seen.sequence { return }
            try connection.run("INSERT OR REPLACE INTO seen (one, anchor) VALUES (1, ?1)", [.text(seen.text)])
        }
    }

    package func seen() async throws(StoreError) -> AuditAnchor? { try await reader.read(Self.seen) }

    package func mark(of store: String) async throws(StoreError) -> StoreMark? {
        try await reader.read { connection throws(StoreError) in try Self.marks(connection)[store] }
    }

    package func keep(_ mark: StoreMark, of store: String) {
        later { connection throws(StoreError) in
            try connection.run(
                "INSERT OR REPLACE INTO marks (store, mark) VALUES (?1, ?2)", [.text(store), .text(mark.text)])
        }
    }

    package func forgetSeen() async throws(StoreError) {
        try await writer.write(.full) { connection throws(StoreError) in
            for table in ["seen", "marks"] { try connection.run("DELETE FROM \(table)") }
        }
    }

    package func keep(_ dataKeys: [WrappedDataKey]) {
        let now = timekeeper.date
        // Keeping every half minute writes at least a time, so that it notices when writes succeed again; after a failure, always.
        later(endsFailure: true) { [failed] connection throws(StoreError) in
            let hasFailed = failed.withLock { $0 != nil }
            let held = try Self.dataKeys(connection)
            if held != dataKeys {
                try connection.run("DELETE FROM data_keys")
                for key in dataKeys {
                    try connection.run(
                        "INSERT INTO data_keys (tenant, version, wrapper, nonce, wrapped) VALUES (?1, ?2, ?3, ?4, ?5)",
                        [
                            .text(key.tenant), .version(key.version), .text(key.wrapper), .bytes(key.nonce),
                            .bytes(key.wrapped),
                        ])
                }
            }
            try connection.run(
                """
                INSERT INTO standing (one, kept) VALUES (1, ?1)
                ON CONFLICT (one) DO UPDATE SET kept = excluded.kept WHERE ?2 OR kept < excluded.kept - 10000000
                """, [.date(now), .integer(hasFailed ? 1 : 0)])
        }
    }

    package func keep(_ seeds: [SealedKey], of tenant: String) {
        later { connection throws(StoreError) in
            guard try Self.seeds(of: tenant, connection) != seeds else { return }
            try connection.run("DELETE FROM seeds WHERE tenant = ?1", [.text(tenant)])
            for seed in seeds {
                guard case .seed(let version) = seed.subject else { continue }
                try connection.run(
                    "INSERT INTO seeds (tenant, version, data_key, nonce, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
                    [
                        .text(tenant), .version(version.number), .version(seed.dataKey), .bytes(seed.nonce),
                        .bytes(seed.sealed),
                    ])
            }
        }
    }

    package func keep(_ blocks: [Block]) {
        later { connection throws(StoreError) in
            guard Set(try SQLiteStore.blocks(connection)) != Set(blocks) else { return }
            try connection.run("DELETE FROM blocks")
            for block in blocks { try connection.run(SQLiteStore.setBlock, block.values) }
        }
    }

    package func forget(_ kids: [KeyID], of tenant: String) {
        later { connection throws(StoreError) in
            for kid in kids {
                try connection.run(
                    "DELETE FROM keys WHERE tenant = ?1 AND kid = ?2", [.text(tenant), .bytes(Array(kid.bytes))])
            }
        }
    }

    /// A write without a waiting caller. If it fails, the next read of the same rows makes up for it.
    private func later(
        endsFailure: Bool = false, _ work: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Void
    ) {
        writer.writeLater(work) { [failed] error in
            if error != nil || endsFailure { failed.withLock { $0 = error } }
        }
    }

    // MARK: - Reading

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        try await reader.read { connection throws(StoreError) in
            var rows: [KeyRow] = []
            for kid in kids {
                rows += try connection.rows(
                    "SELECT \(KeyColumns.all) FROM keys WHERE tenant = ?1 AND kid = ?2",
                    [.text(tenant), .bytes(Array(kid.bytes))]
                ) { row throws(StoreError) in try row.keyRow() }
            }
            return rows
        }
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] { try await reader.read(Self.dataKeys) }

    package func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        try await reader.read { connection throws(StoreError) in try Self.seeds(of: tenant, connection) }
    }

    package func blocks() async throws(StoreError) -> [Block] { try await reader.read(SQLiteStore.blocks) }

    package func takedowns() async throws(StoreError) -> [HeldKey] {
        try await reader.read { connection throws(StoreError) in
            try connection.rows("SELECT tenant, kid FROM keys WHERE disabled <> 0") { row throws(StoreError) in
                HeldKey(try row.text(0), try row.value(1, try row.bytes(1)) { KeyID(bytes: $0) })
            }
        }
    }

    package func kids(of tenant: String, after kid: KeyID?, limit: Int) async throws(StoreError) -> [KeyID] {
        let start = kid.map { Array($0.bytes) } ?? []
        return try await reader.read { connection throws(StoreError) in
            try connection.rows(
                "SELECT kid FROM keys WHERE tenant = ?1 AND kid > ?2 ORDER BY kid LIMIT ?3",
                [.text(tenant), .bytes(start), .integer(Int64(StoreLimits.page(limit)))]
            ) { row throws(StoreError) in try row.value(0, try row.bytes(0)) { KeyID(bytes: $0) } }
        }
    }

    package func figures() async throws(StoreError) -> NodeCopyFigures {
        try await reader.read { connection throws(StoreError) in
            let pages = try connection.number("PRAGMA page_count")
            let bytes = pages.multipliedReportingOverflow(by: try connection.number("PRAGMA page_size")).partialValue
            let kept = try connection.rows("SELECT kept FROM standing") { row throws(StoreError) in try row.date(0) }
            return NodeCopyFigures(
                rows: Int(clamping: try connection.number("SELECT count(*) FROM keys")), bytes: Int(clamping: bytes),
                kept: kept.first)
        }
    }

    // MARK: - Changes

    package func add(_ change: PendingChange) async throws(StoreError) {
        let text: [UInt8]
        do { text = Array(try JSONEncoder().encode(change)) } catch {
            throw StoreError(.unfit, SQLiteStore.name, reason: "A change cannot be written: \(type(of: error)).")
        }
        let most = limits.changes
        try await writer.write(.full) { connection throws(StoreError) in
            guard try connection.number("SELECT count(*) FROM changes") < most else {
                throw StoreError(
                    .full, SQLiteStore.name, reason: "\(most) changes wait for the store; no more are accepted.",
                    remedy: "Restore the store's operation.")
            }
            try connection.run("INSERT INTO changes (id, text) VALUES (?1, ?2)", [.text("\(change.id)"), .bytes(text)])
        }
    }

    package func changes() async throws(StoreError) -> [PendingChange] {
        try await reader.read { connection throws(StoreError) in
            try connection.rows("SELECT text FROM changes ORDER BY number") { row throws(StoreError) in
                try row.value(0, try row.bytes(0)) { try? JSONDecoder().decode(PendingChange.self, from: Data($0)) }
            }
        }
    }

    package func remove(_ change: PendingChange) async throws(StoreError) {
        _ = try await writer.write(.full) { connection throws(StoreError) in
            try connection.run("DELETE FROM changes WHERE id = ?1", [.text("\(change.id)")])
        }
    }

    // MARK: - Rows

    /// The newest entry of the audit that the node has seen.
    static func seen(_ connection: SQLiteConnection) throws(StoreError) -> AuditAnchor? {
        try connection.rows("SELECT anchor FROM seen") { row throws(StoreError) in
            try row.value(0, try row.text(0)) { AuditAnchor($0) }
        }.first
    }

    /// The marks that the node has seen, by their stores.
    static func marks(_ connection: SQLiteConnection) throws(StoreError) -> [String: StoreMark] {
        let marks = try connection.rows("SELECT store, mark FROM marks") { row throws(StoreError) in
            (try row.text(0), try row.value(1, try row.text(1)) { StoreMark($0) })
        }
        return Dictionary(marks) { one, _ in one }
    }

    private static func dataKeys(_ connection: SQLiteConnection) throws(StoreError) -> [WrappedDataKey] {
        try connection.rows(
            "SELECT tenant, version, wrapper, nonce, wrapped FROM data_keys ORDER BY tenant, version"
        ) { row throws(StoreError) in try row.dataKey() }
    }

    private static func seeds(of tenant: String, _ connection: SQLiteConnection) throws(StoreError) -> [SealedKey] {
        try connection.rows(
            "SELECT tenant, version, data_key, nonce, sealed FROM seeds WHERE tenant = ?1 ORDER BY version",
            [.text(tenant)]
        ) { row throws(StoreError) in try row.seed() }
    }

    /// Writes only if something differs, or the row was not marked for a day.
    private static let upsert: String = {
        let names = KeyColumns.names.filter { $0 != "tenant" && $0 != "kid" }
        let places = (1...KeyColumns.names.count + 1).map { "?\($0)" }.joined(separator: ", ")
        let sets = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let differences = names.map { "keys.\($0) IS NOT excluded.\($0)" }.joined(separator: " OR ")
        return """
            INSERT INTO keys (\(KeyColumns.all), seen) VALUES (\(places))
            ON CONFLICT (tenant, kid) DO UPDATE SET \(sets), seen = excluded.seen
            WHERE keys.seen < ?\(KeyColumns.names.count + 2) OR \(differences)
            """
    }()
}

extension SQLiteSchema {
    /// `LtKc`: the file of a node's copy.
    static let copy = SQLiteSchema(
        applicationID: 0x4c74_4b63,
        migrations: [
            """
            CREATE TABLE keys (
                tenant TEXT NOT NULL, kid BLOB NOT NULL CHECK (length(kid) = 16), content BLOB NOT NULL,
                track TEXT NOT NULL, track_type TEXT NOT NULL, policies TEXT NOT NULL, scheme TEXT,
                periods TEXT NOT NULL, data_key INTEGER NOT NULL, nonce BLOB NOT NULL, sealed BLOB NOT NULL,
                created INTEGER NOT NULL, disabled INTEGER NOT NULL, seen INTEGER NOT NULL,
                PRIMARY KEY (tenant, kid)) STRICT;
            CREATE INDEX keys_seen ON keys (seen);
            CREATE TABLE seeds (
                tenant TEXT NOT NULL, version INTEGER NOT NULL, data_key INTEGER NOT NULL, nonce BLOB NOT NULL,
                sealed BLOB NOT NULL, PRIMARY KEY (tenant, version)) STRICT, WITHOUT ROWID;
            CREATE TABLE data_keys (
                tenant TEXT NOT NULL, version INTEGER NOT NULL, wrapper TEXT NOT NULL, nonce BLOB NOT NULL,
                wrapped BLOB NOT NULL, PRIMARY KEY (tenant, version)) STRICT, WITHOUT ROWID;
            CREATE TABLE origin (one INTEGER PRIMARY KEY CHECK (one = 1), fingerprint BLOB NOT NULL) STRICT;
            CREATE TABLE standing (one INTEGER PRIMARY KEY CHECK (one = 1), kept INTEGER NOT NULL) STRICT;
            CREATE TABLE changes (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text BLOB NOT NULL) STRICT;
            """
        ])
}
