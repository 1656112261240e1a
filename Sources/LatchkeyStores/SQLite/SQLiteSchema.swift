import LatchkeyCore
import LatchkeySystem

/// The tables of a file, and the upgrades of older files.
///
/// A migration only adds. Its number is in `user_version`, and `application_id` marks the file as ours.
struct SQLiteSchema {
    /// The number that identifies the program of the file.
    let applicationID: Int64
    /// The additions of each version.
    let migrations: [String]

    /// `LtKy`: the file of a store.
    static let store = SQLiteSchema(applicationID: 0x4c74_4b79, migrations: migrations)

    private static let migrations = [
        """
        CREATE TABLE records (
            tenant TEXT NOT NULL, kind TEXT NOT NULL, name BLOB NOT NULL,
            version INTEGER NOT NULL, ends INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
        CREATE UNIQUE INDEX records_name ON records (tenant, kind, name);
        CREATE INDEX records_ends ON records (ends);
        CREATE TABLE keys (
            tenant TEXT NOT NULL, kid BLOB NOT NULL CHECK (length(kid) = 16), content BLOB NOT NULL,
            track TEXT NOT NULL, track_type TEXT NOT NULL, policies TEXT NOT NULL, scheme TEXT,
            periods TEXT NOT NULL, data_key INTEGER NOT NULL, nonce BLOB NOT NULL, sealed BLOB NOT NULL,
            created INTEGER NOT NULL, disabled INTEGER NOT NULL,
            PRIMARY KEY (tenant, kid)) STRICT;
        CREATE INDEX keys_content ON keys (tenant, content, kid);
        CREATE INDEX keys_data_key ON keys (tenant, data_key);
        CREATE TABLE seeds (
            tenant TEXT NOT NULL, version INTEGER NOT NULL, data_key INTEGER NOT NULL, nonce BLOB NOT NULL,
            sealed BLOB NOT NULL, PRIMARY KEY (tenant, version)) STRICT, WITHOUT ROWID;
        CREATE TABLE data_keys (
            tenant TEXT NOT NULL, version INTEGER NOT NULL, wrapper TEXT NOT NULL, nonce BLOB NOT NULL,
            wrapped BLOB NOT NULL, PRIMARY KEY (tenant, version)) STRICT, WITHOUT ROWID;
        CREATE TABLE audit (
            sequence INTEGER PRIMARY KEY, text TEXT NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
        CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit stays'); END;
        CREATE TRIGGER audit_keeps BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit stays'); END;
        """,
        // Keys that were replaced or removed, as they were sealed, and the identity of this file.
        """
        CREATE TABLE former_keys (
            tenant TEXT NOT NULL, kid BLOB NOT NULL, content BLOB NOT NULL, track TEXT NOT NULL,
            track_type TEXT NOT NULL, policies TEXT NOT NULL, scheme TEXT, periods TEXT NOT NULL,
            data_key INTEGER NOT NULL, nonce BLOB NOT NULL, sealed BLOB NOT NULL, created INTEGER NOT NULL,
            disabled INTEGER NOT NULL, gone INTEGER NOT NULL) STRICT;
        CREATE INDEX former_keys_kid ON former_keys (tenant, kid);
        CREATE TABLE identity (
            one INTEGER PRIMARY KEY CHECK (one = 1), fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 16)) STRICT;
        INSERT INTO identity VALUES (1, randomblob(16));
        """,
        // The ends of a record's counted things, in seconds; empty for a record of a version without counts. The number of things that
        // end in each second; and the log that belongs to the file: see `SQLiteLog`.
        """
        ALTER TABLE records ADD COLUMN counted BLOB;
        CREATE INDEX records_uncounted ON records (tenant, kind) WHERE counted IS NULL;
        CREATE TABLE counts (
            second INTEGER NOT NULL, tenant TEXT NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (second, tenant, kind)) STRICT, WITHOUT ROWID;
        CREATE TABLE log (
            one INTEGER PRIMARY KEY CHECK (one = 1), began INTEGER NOT NULL, goes_on INTEGER NOT NULL) STRICT;
        INSERT INTO log VALUES (1, 0, 0);
        CREATE TABLE log_before (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL) STRICT;
        INSERT INTO log_before VALUES (1, 0);
        """,
        blocks,
    ]

    /// The table of blocks, in a store and in a node's copy.
    static let blocks = """
        CREATE TABLE IF NOT EXISTS blocks (
            tenant TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, actor TEXT NOT NULL,
            since INTEGER NOT NULL, ends INTEGER, PRIMARY KEY (tenant, kind, name)) STRICT, WITHOUT ROWID;
        """

    /// Checks whose file it is, and adds missing parts. Two processes may do so concurrently.
    /// - Throws: `storeDamaged` for another program's file and for a newer schema.
    func migrate(_ connection: SQLiteConnection) throws(StoreError) {
        try check(connection)
        try connection.execute("PRAGMA journal_mode = WAL")
        for number in 0..<migrations.count {
            try Self.run("BEGIN IMMEDIATE", on: connection) { connection throws(StoreError) in
                // Another process may have been first.
                guard try connection.number("PRAGMA user_version") == number else { return }
                try connection.execute(migrations[number])
                try connection.execute("PRAGMA user_version = \(number + 1); PRAGMA application_id = \(applicationID)")
            }
        }
    }

    private static func run(
        _ begin: String, on connection: SQLiteConnection, _ work: (SQLiteConnection) throws(StoreError) -> Void
    ) throws(StoreError) {
        try connection.run(begin)
        do {
            try work(connection)
            try connection.run("COMMIT")
        } catch {
            if !connection.isOutsideTransaction { try connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Checks whose file it is, and changes nothing. It may lack later migrations.
    /// - Throws: `storeDamaged` for another program's file and for a newer schema.
    func check(_ connection: SQLiteConnection) throws(StoreError) {
        // In a transaction, so that another process's migration is visible as a whole or not at all.
        try Self.run("BEGIN", on: connection, inspect)
    }

    private func inspect(_ connection: SQLiteConnection) throws(StoreError) {
        let owner = try connection.number("PRAGMA application_id")
        let version = try connection.number("PRAGMA user_version")
        let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
        guard owner == applicationID || (isEmpty && owner == 0 && version == 0) else {
            throw StoreError(
                .damaged, SQLiteStore.name, reason: "The file is another program's database.",
                remedy: "Use another file.")
        }
        guard version <= migrations.count else {
            throw StoreError(
                .damaged, SQLiteStore.name,
                reason: "The file has schema \(version), but this server knows \(migrations.count).",
                remedy: "Start the server version that wrote it, or a newer one.")
        }
    }
}
