/// The tables as version 1 of 2026-11 made them, never to be changed: the starting point of migrations.
enum FormerSchemas {
    static let postgreSQL1 = [
        "CREATE SCHEMA IF NOT EXISTS latchkey",
        """
        CREATE TABLE IF NOT EXISTS latchkey.schema (
            one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL, oldest bigint NOT NULL)
        """,
        // Space for the next version of a record on its page, so that an update touches no index.
        """
        CREATE TABLE IF NOT EXISTS latchkey.records (
            tenant text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, name bytea NOT NULL,
            version bigint NOT NULL, ends timestamptz NOT NULL, bytes bytea NOT NULL,
            PRIMARY KEY (tenant, kind, name)) WITH (fillfactor = 70)
        """,
        """
        CREATE TABLE IF NOT EXISTS latchkey.keys (
            tenant text COLLATE "C" NOT NULL, kid uuid NOT NULL, content bytea NOT NULL, track text NOT NULL,
            track_type text NOT NULL, policies text NOT NULL, scheme text, periods text NOT NULL,
            data_key bigint NOT NULL, nonce bytea NOT NULL, sealed bytea NOT NULL, created timestamptz NOT NULL,
            disabled boolean NOT NULL, PRIMARY KEY (tenant, kid))
        """,
        "CREATE INDEX IF NOT EXISTS keys_content ON latchkey.keys (tenant, content, kid)",
        "CREATE INDEX IF NOT EXISTS keys_data_key ON latchkey.keys (tenant, data_key)",
        """
        CREATE TABLE IF NOT EXISTS latchkey.seeds (
            tenant text COLLATE "C" NOT NULL, version bigint NOT NULL, data_key bigint NOT NULL, nonce bytea NOT NULL,
            sealed bytea NOT NULL, PRIMARY KEY (tenant, version))
        """,
        """
        CREATE TABLE IF NOT EXISTS latchkey.data_keys (
            tenant text COLLATE "C" NOT NULL, version bigint NOT NULL, wrapper text NOT NULL, nonce bytea NOT NULL,
            wrapped bytea NOT NULL, PRIMARY KEY (tenant, version))
        """,
        """
        CREATE TABLE IF NOT EXISTS latchkey.audit (
            sequence bigint PRIMARY KEY, text text NOT NULL, previous bytea NOT NULL, hash bytea NOT NULL)
        """,
        """
        INSERT INTO latchkey.schema (version, oldest) VALUES (1, 1)
        ON CONFLICT (one) DO UPDATE
        SET version = greatest(schema.version, excluded.version), oldest = greatest(schema.oldest, excluded.oldest)
        """,
    ]

    static let sqlite1 =
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
        """

    /// The numbers that version 1 wrote besides its tables.
    static let sqlite1Numbers =
        "PRAGMA user_version = 1; PRAGMA application_id = 1282689913; PRAGMA journal_mode = WAL;"
}
