import LatchkeyVault

/// Roll-ups of the record: the counts of each hour by each value of each dimension, and each day's sketches of accounts, devices and sessions.
///
/// A trigger of `license_records` updates them in the transaction that adds the rows, whichever version of a server adds them, with the owner's
/// rights: servers only read them.
///
/// Source: `Documentation/Server/Record.md` §3.3.
enum PostgreSQLRollupSchema {
    /// The dimensions: name, unit of time, and a row's value in SQL; a row without a value is in none. Content has days too, because a tenant
    /// may have thousands of titles.
    private static let dimensions = [
        ("api", "hour", "api"), ("code", "hour", "code"), ("content", "hour", "content"),
        (contentDays, "day", "content"), ("country", "hour", "country"), (latency, "hour", bucket),
        ("node", "hour", #"node COLLATE "C""#), ("policy", "hour", #"policy COLLATE "C""#),
    ]
    static let contentDays = "content-day"
    static let latency = "latency"
    /// The bucket of `LatencyCounts`.
    private static let bucket =
        "CASE WHEN event <> 'refusal' THEN floor(8 * ln(greatest(microseconds, 1)) / ln(2::float8))::bigint::text END"

    /// The first number of the locks of days; the second is the day since 1970.
    private static let lock = 0x4c74_526f
    /// How many days of roll-ups stay before the owner sets it: three years.
    private static let days = 1_100

    private static let events = RecordReport.events.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    private static func sum(_ event: LicenseRecordRow.Event) -> String {
        "coalesce(sum(count) FILTER (WHERE event = '\(event.rawValue)'), 0)"
    }

    /// Adds the rows of a table to the roll-ups. In the order of the key, so that two transactions wait for each other in one direction only.
    private static func adding(_ table: String) -> String {
        """
        WITH counted AS MATERIALIZED (
            SELECT dimension, date_trunc(unit, time) AS begins, tenant, value, \(sum(.license)) AS licenses,
                \(sum(.renewal)) AS renewals, \(sum(.refusal)) AS refusals
            FROM \(table), LATERAL (VALUES \(dimensions.map { "('\($0)', '\($1)', \($2))" }.joined(separator: ", ")))
                AS part (dimension, unit, value)
            WHERE event IN (\(events)) AND value IS NOT NULL GROUP BY 1, 2, 3, 4)
        INSERT INTO latchkey.rollups AS held (dimension, begins, tenant, value, licenses, renewals, refusals)
        SELECT * FROM counted ORDER BY 1, 2, 3, 4
        ON CONFLICT (dimension, begins, tenant, value) DO UPDATE SET licenses = held.licenses + excluded.licenses,
            renewals = held.renewals + excluded.renewals, refusals = held.refusals + excluded.refusals;
        FOR one IN
            WITH ranked AS MATERIALIZED (
                SELECT date_trunc('day', time) AS its_day, tenant AS its_tenant, figure AS its_figure, event AS its_event,
                    (hash & \(DistinctSketch.size - 1))::integer AS register,
                    max(CASE rest WHEN 0 THEN 53 ELSE 1 + round(ln((rest & -rest)::float8) / ln(2::float8)) END)::integer AS rank
                FROM \(table),
                    LATERAL (VALUES ('accounts', account), ('devices', device), ('sessions', session)) AS named (figure, name),
                    LATERAL (
                        SELECT ('x' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 16))::bit(64)::bigint AS hash
                        OFFSET 0) AS hashed,
                    LATERAL (SELECT hash >> 12 AS rest) AS shifted
                WHERE event IN (\(events)) AND name <> '' GROUP BY 1, 2, 3, 4, 5)
            SELECT its_day, its_tenant, its_figure, its_event, array_agg(register) AS registers, array_agg(rank) AS ranks
            FROM ranked GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        LOOP
            INSERT INTO latchkey.sketches (begins, tenant, figure, event, registers)
            VALUES (one.its_day, one.its_tenant, one.its_figure, one.its_event, decode(repeat('00', \(DistinctSketch.size)), 'hex'))
            ON CONFLICT DO NOTHING;
            UPDATE latchkey.sketches SET registers = latchkey.raised(registers, one.registers, one.ranks)
            WHERE begins = one.its_day AND tenant = one.its_tenant AND figure = one.its_figure AND event = one.its_event
                AND latchkey.raised(registers, one.registers, one.ranks) <> registers;
        END LOOP;
        """
    }
    /// A function that adds rows: it groups by hashes, without sorting all rows, however few the planner expects.
    private static let groups = "\(PostgreSQLSchema.asOwner) SET enable_sort = off SET jit = off SET work_mem = '64MB'"

    static let statements = [
        """
        CREATE TABLE IF NOT EXISTS latchkey.rollups (
            dimension text COLLATE "C" NOT NULL, begins timestamptz NOT NULL, tenant text COLLATE "C" NOT NULL,
            value text COLLATE "C" NOT NULL, licenses bigint NOT NULL, renewals bigint NOT NULL, refusals bigint NOT NULL,
            PRIMARY KEY (dimension, begins, tenant, value)) WITH (fillfactor = 70)
        """,
        """
        CREATE TABLE IF NOT EXISTS latchkey.sketches (
            begins timestamptz NOT NULL, tenant text COLLATE "C" NOT NULL, figure text COLLATE "C" NOT NULL,
            event text COLLATE "C" NOT NULL, registers bytea NOT NULL, PRIMARY KEY (begins, tenant, figure, event))
        """,
        // The roll-ups have all rows since that time, and stay for so many days.
        """
        CREATE TABLE IF NOT EXISTS latchkey.rollup_state (
            one boolean PRIMARY KEY DEFAULT true CHECK (one), since timestamptz NOT NULL,
            days bigint NOT NULL DEFAULT \(days) CHECK (days > 0))
        """,
        // Adding nothing to an empty text copies a long one, so that it is not read again for each byte.
        """
        CREATE OR REPLACE FUNCTION latchkey.raised(held bytea, registers integer[], ranks integer[]) RETURNS bytea
        LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
        DECLARE raised bytea := held || ''::bytea;
        BEGIN
            FOR place IN 1..array_length(registers, 1) LOOP
                IF get_byte(raised, registers[place]) < ranks[place] THEN
                    raised := set_byte(raised, registers[place], ranks[place]);
                END IF;
            END LOOP;
            RETURN raised;
        END $$
        """,
        // The locks of days, so that a day that is rebuilt gets no rows meanwhile.
        """
        CREATE OR REPLACE FUNCTION latchkey.roll_up() RETURNS trigger
        LANGUAGE plpgsql VOLATILE \(groups) AS $$
        DECLARE one record;
        BEGIN
            PERFORM pg_advisory_xact_lock_shared(\(lock), day) FROM (
                SELECT DISTINCT time::date - date '1970-01-01' AS day FROM added ORDER BY day) AS days;
            \(adding("added"))
            RETURN NULL;
        END $$
        """,
        """
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'latchkey.license_records'::regclass AND tgname = 'roll_up') THEN
                CREATE TRIGGER roll_up AFTER INSERT ON latchkey.license_records
                REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION latchkey.roll_up();
            END IF;
        END $$
        """,
        // The rows of before the trigger are in no roll-up, nor are some of the hours in which it was made.
        """
        INSERT INTO latchkey.rollup_state (since)
        SELECT CASE WHEN EXISTS (SELECT FROM latchkey.license_records)
            THEN date_trunc('hour', now()) + interval '2 hours' ELSE '-infinity' END
        ON CONFLICT DO NOTHING
        """,
        // Rebuilds the hours of a day, or of a part of it. A day before the oldest partition is left alone: its rows were dropped.
        """
        CREATE OR REPLACE FUNCTION latchkey.rebuild_rollups(first timestamptz, past timestamptz) RETURNS void
        LANGUAGE plpgsql VOLATILE \(groups) AS $$
        DECLARE one record; whole_day timestamptz := date_trunc('day', first); hourly text[] := ARRAY[\(hourly)];
        BEGIN
            -- The rows are read after the lock, which needs a later view of them.
            IF current_setting('transaction_isolation') <> 'read committed' THEN
                RAISE EXCEPTION 'rebuild_rollups needs read committed';
            END IF;
            PERFORM pg_advisory_xact_lock(\(lock), first::date - date '1970-01-01');
            IF NOT EXISTS (SELECT FROM (\(PostgreSQLRecordSchema.days)) AS kept WHERE begins <= whole_day) THEN
                RETURN;
            END IF;
            DELETE FROM latchkey.rollups WHERE dimension = ANY (hourly) AND begins >= first AND begins < past;
            IF past - first >= interval '1 day' THEN
                DELETE FROM latchkey.sketches WHERE begins = whole_day;
            END IF;
            \(adding("(SELECT * FROM latchkey.license_records WHERE license_records.time >= first AND license_records.time < past) AS kept_rows"))
            DELETE FROM latchkey.rollups WHERE dimension = '\(contentDays)' AND begins = whole_day;
            INSERT INTO latchkey.rollups (dimension, begins, tenant, value, licenses, renewals, refusals)
            SELECT '\(contentDays)', whole_day, tenant, value, sum(licenses), sum(renewals), sum(refusals) FROM latchkey.rollups
            WHERE dimension = 'content' AND begins >= whole_day AND begins < whole_day + interval '1 day' GROUP BY tenant, value;
            UPDATE latchkey.rollup_state SET since = first WHERE since > first AND since <= past;
        END $$
        """,
        "REVOKE ALL ON FUNCTION latchkey.rebuild_rollups(timestamptz, timestamptz) FROM PUBLIC",
        """
        CREATE OR REPLACE FUNCTION latchkey.\(keep) RETURNS bigint
        LANGUAGE plpgsql VOLATILE \(PostgreSQLSchema.asOwner) AS $$
        DECLARE gone bigint; before timestamptz;
        BEGIN
            SELECT date_trunc('day', now()) - least(days - 1, 1000000) * interval '1 day' INTO before FROM latchkey.rollup_state;
            DELETE FROM latchkey.rollups WHERE dimension = ANY (ARRAY[\(hourly), '\(contentDays)']) AND begins < before;
            GET DIAGNOSTICS gone = ROW_COUNT;
            DELETE FROM latchkey.sketches WHERE begins < before;
            UPDATE latchkey.rollup_state SET since = before WHERE since < before AND gone > 0;
            RETURN gone;
        END $$
        """,
        "REVOKE ALL ON FUNCTION latchkey.\(keep) FROM PUBLIC",
    ]

    private static let hourly = dimensions.filter { $0.1 == "hour" }.map { "'\($0.0)'" }.joined(separator: ", ")
    static let keep = "keep_rollups()"

    /// The rights of a server's role: it reads roll-ups, and has old ones dropped.
    static func grants(to name: String) -> [String] {
        [
            "GRANT SELECT ON latchkey.rollups, latchkey.sketches, latchkey.rollup_state TO \(name)",
            "GRANT EXECUTE ON FUNCTION latchkey.\(keep) TO \(name)",
        ]
    }
}
