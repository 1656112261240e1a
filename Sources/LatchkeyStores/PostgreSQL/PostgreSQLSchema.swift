import LatchkeyCore
import LatchkeySystem
import LatchkeyVault

/// The tables in the schema `latchkey`.
///
/// A migration only adds, and each of its statements may run again, so that servers of two adjacent versions share one database.
package enum PostgreSQLSchema {
    /// The version that this server needs, and the oldest that it still works with: a later expansion leaves `oldest` as it is.
    static let version: Int64 = 5
    static let oldest: Int64 = 1

    /// The number of our lock for making tables.
    private static let lock = 0x4c74_4b79

    static let statements =
        [
            "SELECT pg_advisory_xact_lock(\(lock))",
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
            // Keys that were replaced or removed, as they were sealed; for the owner alone.
            """
            CREATE TABLE IF NOT EXISTS latchkey.former_keys (
                tenant text COLLATE "C" NOT NULL, kid uuid NOT NULL, content bytea NOT NULL, track text NOT NULL,
                track_type text NOT NULL, policies text NOT NULL, scheme text, periods text NOT NULL,
                data_key bigint NOT NULL, nonce bytea NOT NULL, sealed bytea NOT NULL, created timestamptz NOT NULL,
                disabled boolean NOT NULL, gone timestamptz NOT NULL)
            """,
            "CREATE INDEX IF NOT EXISTS former_keys_kid ON latchkey.former_keys (tenant, kid)",
            // With the owner's rights, so that no server's role may delete a key.
            """
            CREATE OR REPLACE FUNCTION latchkey.set_key_aside(
                of_tenant text, of_kid uuid, held_key bigint, held_nonce bytea, held_sealed bytea) RETURNS bigint
            LANGUAGE sql VOLATILE \(asOwner) AS $$
                WITH aside AS (
                    DELETE FROM latchkey.keys WHERE tenant = $1 AND kid = $2 AND data_key = $3 AND nonce = $4 AND sealed = $5
                    RETURNING \(KeyColumns.all)),
                kept AS (
                    INSERT INTO latchkey.former_keys (\(KeyColumns.all), gone)
                    SELECT \(KeyColumns.all), clock_timestamp() FROM aside RETURNING 1)
                SELECT count(*) FROM kept
            $$
            """,
            "REVOKE ALL ON FUNCTION \(setAside) FROM PUBLIC",
            """
            CREATE TABLE IF NOT EXISTS latchkey.blocks (
                tenant text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
                reason text NOT NULL, actor text NOT NULL, since timestamptz NOT NULL, ends timestamptz,
                PRIMARY KEY (tenant, kind, name))
            """,
            // The identity of this database.
            """
            CREATE TABLE IF NOT EXISTS latchkey.identity (
                one boolean PRIMARY KEY DEFAULT true CHECK (one), fingerprint bytea NOT NULL)
            """,
            // The ends of a record's counted things, in microseconds since 1970, the last first; and the record's version at that time. A
            // server of an earlier version leaves both as they are.
            "ALTER TABLE latchkey.records ADD COLUMN IF NOT EXISTS counted bigint[]",
            "ALTER TABLE latchkey.records ADD COLUMN IF NOT EXISTS counted_of bigint",
        ] + PostgreSQLRecordSchema.statements + PostgreSQLReportSchema.statements
        + PostgreSQLRollupSchema.statements + [
            """
            INSERT INTO latchkey.schema (version, oldest) VALUES (\(version), \(oldest))
            ON CONFLICT (one) DO UPDATE
            SET version = greatest(schema.version, excluded.version), oldest = greatest(schema.oldest, excluded.oldest)
            """
        ]

    /// A function with its owner's rights, whatever its caller's session has set: a role's `DateStyle` and `TimeZone` would move days.
    static let asOwner =
        "SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' SET timezone = 'UTC'"

    /// The function that sets keys aside, in the schema.
    static let setAsideSignature = "set_key_aside(text, uuid, bigint, bytea, bytea)"
    private static let setAside = "latchkey.\(setAsideSignature)"
    /// Runs that function for no key: no tenant has an empty name.
    static let setNothingAside = PostgreSQLCall(
        "probe-aside", "SELECT latchkey.set_key_aside('', '00000000-0000-0000-0000-000000000000', 0, '', '')")

    /// Gives the database a fingerprint, unless it has one.
    static func identity(_ fingerprint: DatabaseFingerprint) -> PostgreSQLCall {
        PostgreSQLCall(
            "migrate-identity", "INSERT INTO latchkey.identity (fingerprint) VALUES ($1) ON CONFLICT (one) DO NOTHING",
            [.bytes(fingerprint.bytes)])
    }

    /// The rights of the servers' role: no DDL, only records and blocks are deleted, and the audit only grows. A key that is replaced
    /// or removed is set aside, where the role neither reads nor changes it.
    ///
    /// Run by the owner of the tables.
    /// - Parameter role: the name of an existing role.
    static func grants(to role: String) -> [String] {
        let name = "\"\(role.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
        return [
            "GRANT USAGE ON SCHEMA latchkey TO \(name)",
            "GRANT SELECT ON latchkey.schema, latchkey.identity TO \(name)",
            "GRANT EXECUTE ON FUNCTION \(setAside) TO \(name)",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON latchkey.records, latchkey.blocks TO \(name)",
            "GRANT SELECT, INSERT, UPDATE ON latchkey.keys, latchkey.seeds, latchkey.data_keys TO \(name)",
            "GRANT SELECT, INSERT ON latchkey.audit TO \(name)",
        ] + PostgreSQLRecordSchema.grants(to: name)
    }

    /// Checks that the tables exist, and that this server knows their version.
    /// - Throws: `storeMisconfigured` without tables or with older ones, `storeDamaged` with newer ones.
    static func check(_ pool: PostgreSQLPool, within limit: Duration) async throws(StoreError) {
        let answer = try await pool.run(
            PostgreSQLCall("schema", "SELECT version, oldest FROM latchkey.schema"), within: limit)
        let found = try answer.rows.first?.integer(0) ?? 0
        guard found >= version else {
            throw StoreError(
                .misconfigured, PostgreSQLStore.name,
                reason: "The database has schema \(found), but this server needs \(version).",
                remedy: "Run `latchkey-server migrate` with the role that owns the tables.")
        }
        let oldest = try answer.rows.first?.integer(1) ?? 0
        guard oldest <= version else {
            throw StoreError(
                .damaged, PostgreSQLStore.name,
                reason:
                    "The database has schema \(found), which needs servers that know \(oldest); this one knows \(version).",
                remedy: "Start a newer version of the server.")
        }
    }
}
