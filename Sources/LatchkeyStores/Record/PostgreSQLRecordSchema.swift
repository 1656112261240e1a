import Foundation
import LatchkeyForms
import LatchkeyVault

/// The tables of the record in the schema `latchkey`: one partition for each day by UTC, and the position of each spool.
///
/// Servers run without the right to make or drop tables; two functions with the owner's rights do that for days only.
///
/// Source: `Documentation/Server/Record.md` §3.1.
enum PostgreSQLRecordSchema {
    /// The columns in the order of copying.
    static let columns = [
        "time", "node", "spool", "sequence", "event", "cause", "count", "tenant", "account", "device", "address",
        "country", "content", "kid", "api", "kind", "seconds", "policy", "policy_digest", "session", "request_id",
        "code", "reason", "microseconds", "decision",
    ]

    /// The number of our lock for making and dropping days.
    private static let lock = 0x4c74_5265

    /// The number of our lock for erasing: nodes that add rows share it, and an erasure has it alone.
    private static let erasureLock = 0x4c74_4572

    /// The midnights of the days that have partitions, in a column `begins`.
    static let days = """
        SELECT to_date(right(relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS begins, pg_class.oid AS part
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'latchkey.license_records'::regclass AND relname ~ '^license_records_[0-9]{8}$'
        """

    static let statements = [
        """
        CREATE TABLE IF NOT EXISTS latchkey.license_records (
            time timestamptz NOT NULL, node text NOT NULL, spool text NOT NULL, sequence bigint NOT NULL,
            event text COLLATE "C" NOT NULL, cause text COLLATE "C" NOT NULL, count bigint NOT NULL,
            tenant text COLLATE "C" NOT NULL, account text COLLATE "C" NOT NULL, device text COLLATE "C" NOT NULL,
            address text NOT NULL, country text COLLATE "C" NOT NULL, content text COLLATE "C" NOT NULL,
            kid text COLLATE "C" NOT NULL, api text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
            seconds bigint, policy text NOT NULL, policy_digest text NOT NULL, session text COLLATE "C" NOT NULL,
            request_id text COLLATE "C" NOT NULL, code text COLLATE "C" NOT NULL, reason text NOT NULL,
            microseconds bigint, decision text) PARTITION BY RANGE (time)
        """,
        "CREATE INDEX IF NOT EXISTS license_records_time ON latchkey.license_records (tenant, time)",
        """
        CREATE INDEX IF NOT EXISTS license_records_account ON latchkey.license_records (tenant, account, time)
        WHERE account <> ''
        """,
        "CREATE INDEX IF NOT EXISTS license_records_request ON latchkey.license_records (request_id)",
        """
        CREATE TABLE IF NOT EXISTS latchkey.record_positions (
            spool text PRIMARY KEY, node text NOT NULL, sequence bigint NOT NULL, seen timestamptz NOT NULL)
        """,
        // Attached, because making a table as a partition waits for all readers and blocks everything else. A day begins at the end of a day
        // that was made in another time zone.
        """
        CREATE OR REPLACE FUNCTION latchkey.make_record_day(of_day date) RETURNS void
        LANGUAGE plpgsql VOLATILE \(PostgreSQLSchema.asOwner) SET lock_timeout = '2s' AS $$
        DECLARE
            part text := 'license_records_' || to_char(of_day, 'YYYYMMDD');
            day_begins timestamptz := of_day::timestamp AT TIME ZONE 'UTC';
            day_ends timestamptz := (of_day + 1)::timestamp AT TIME ZONE 'UTC';
        BEGIN
            IF to_regclass('latchkey.' || part) IS NOT NULL THEN RETURN; END IF;
            PERFORM pg_advisory_xact_lock(\(lock));
            IF to_regclass('latchkey.' || part) IS NOT NULL THEN RETURN; END IF;
            SELECT greatest(day_begins, max(other_ends)) INTO day_begins FROM (
                SELECT substring(bound from 'FROM \\(''([^'']+)''')::timestamptz AS other_begins,
                    substring(bound from 'TO \\(''([^'']+)''')::timestamptz AS other_ends
                FROM (
                    SELECT pg_get_expr(relpartbound, pg_class.oid) AS bound
                    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                    WHERE inhparent = 'latchkey.license_records'::regclass) AS bounds) AS others
            WHERE other_begins < day_begins AND other_ends > day_begins;
            EXECUTE format('CREATE TABLE latchkey.%I (LIKE latchkey.license_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
            EXECUTE format(
                'ALTER TABLE latchkey.license_records ATTACH PARTITION latchkey.%I FOR VALUES FROM (%L) TO (%L)',
                part, day_begins, day_ends);
        END $$
        """,
        // How many days stay whatever a server wants; the owner sets it. Without a row no day is dropped.
        """
        CREATE TABLE IF NOT EXISTS latchkey.record_retention (
            one boolean PRIMARY KEY DEFAULT true CHECK (one), days bigint NOT NULL CHECK (days > 0))
        """,
        // By the database's clock, and one node at a time; the others report that they dropped none.
        """
        CREATE OR REPLACE FUNCTION latchkey.keep_record_days(wanted bigint) RETURNS bigint
        LANGUAGE plpgsql VOLATILE \(PostgreSQLSchema.asOwner) SET lock_timeout = '2s' AS $$
        DECLARE part text; gone bigint := 0; least_days bigint; before date;
        BEGIN
            SELECT days INTO least_days FROM latchkey.record_retention;
            IF wanted IS NULL OR least_days IS NULL OR NOT pg_try_advisory_xact_lock(\(lock)) THEN RETURN 0; END IF;
            before := (now() AT TIME ZONE 'UTC')::date - least(greatest(wanted, least_days), 1000000)::integer + 1;
            FOR part IN
                SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                WHERE inhparent = 'latchkey.license_records'::regclass AND relname ~ '^license_records_[0-9]{8}$'
                    AND to_date(right(relname, 8), 'YYYYMMDD') < before
            LOOP
                -- Who reads for long, as a backup does, is not waited for: the next try drops the day.
                BEGIN
                    EXECUTE format('DROP TABLE latchkey.%I', part);
                EXCEPTION WHEN lock_not_available THEN
                    EXIT;
                END;
                gone := gone + 1;
            END LOOP;
            DELETE FROM latchkey.record_positions WHERE seen < before::timestamp AT TIME ZONE 'UTC';
            RETURN gone;
        END $$
        """,
        // For servers of earlier versions, which count days by their own clocks.
        """
        CREATE OR REPLACE FUNCTION latchkey.drop_record_days(before date) RETURNS bigint
        LANGUAGE sql VOLATILE \(PostgreSQLSchema.asOwner) AS $$
            SELECT latchkey.keep_record_days((now() AT TIME ZONE 'UTC')::date - before + 1)
        $$
        """,
        // The keyed digests of erased accounts, for rows that arrive later.
        """
        CREATE TABLE IF NOT EXISTS latchkey.record_erasures (
            tenant text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, ends timestamptz NOT NULL,
            PRIMARY KEY (tenant, digest))
        """,
        // Empties what names a person, of one account, and nothing else: not the time, the content, or the terms that a bill counts.
        """
        CREATE OR REPLACE FUNCTION latchkey.erase_record_account(
            of_tenant text, names text[], digests text[], wanted_end timestamptz) RETURNS bigint
        LANGUAGE plpgsql VOLATILE \(PostgreSQLSchema.asOwner) AS $$
        DECLARE erased bigint; row_end timestamptz := least(wanted_end, clock_timestamp() + interval '1 hour');
        BEGIN
            PERFORM pg_advisory_xact_lock(\(erasureLock));
            DELETE FROM latchkey.record_erasures WHERE ends < now() - interval '\(RecordErasures.days) days';
            INSERT INTO latchkey.record_erasures (tenant, digest, ends)
            SELECT DISTINCT of_tenant, unnest(digests), row_end
            ON CONFLICT (tenant, digest) DO UPDATE SET ends = greatest(record_erasures.ends, excluded.ends);
            UPDATE latchkey.license_records
            SET account = '', device = '', address = '', session = '', request_id = '', reason = '', decision = NULL
            WHERE tenant = of_tenant AND account = ANY (names) AND account <> '' AND time < row_end;
            GET DIAGNOSTICS erased = ROW_COUNT;
            RETURN erased;
        END $$
        """,
        "REVOKE ALL ON FUNCTION latchkey.\(makeDay), latchkey.\(keepDays), latchkey.drop_record_days(date) FROM PUBLIC",
        "REVOKE ALL ON FUNCTION latchkey.\(erase) FROM PUBLIC",
    ]

    static let erase = "erase_record_account(text, text[], text[], timestamptz)"
    /// Begins a transaction that adds rows: erasures wait for its end, or are visible to it.
    static let begin = "BEGIN; SELECT pg_advisory_xact_lock_shared(\(erasureLock))"
    /// The erasures in the lines of `RecordErasures`.
    static let erasures = """
        SELECT string_agg(digest || ' ' || (extract(epoch FROM ends) * 1000)::bigint || ' ' || tenant, E'\\n')
        FROM latchkey.record_erasures WHERE ends >= now() - interval '\(RecordErasures.days) days'
        """

    static let makeDay = "make_record_day(date)"
    static let keepDays = "keep_record_days(bigint)"

    /// Keeps some days, whatever a server wants.
    static func statements(keeping retention: RecordRetention) -> [String] {
        switch retention {
        case .asBefore: []
        case .all: ["DELETE FROM latchkey.record_retention"]
        case .days(let days):
            [
                """
                INSERT INTO latchkey.record_retention (days) VALUES (\(max(1, days)))
                ON CONFLICT (one) DO UPDATE SET days = excluded.days
                """
            ]
        }
    }

    /// The rights of a server's role: it adds rows, reads them, and changes none, except that it erases accounts.
    static func grants(to name: String) -> [String] {
        [
            "GRANT SELECT, INSERT ON latchkey.license_records TO \(name)",
            "GRANT SELECT, INSERT, UPDATE ON latchkey.record_positions TO \(name)",
            "GRANT SELECT ON latchkey.record_retention, latchkey.record_erasures TO \(name)",
            "GRANT EXECUTE ON FUNCTION latchkey.\(makeDay), latchkey.\(keepDays), latchkey.\(erase) TO \(name)",
        ] + PostgreSQLRollupSchema.grants(to: name)
    }

    /// Rows in COPY's text form.
    static func copyText(_ rows: some Sequence<LicenseRecordRow>) -> [UInt8] {
        var bytes: [UInt8] = []
        var day = (number: Int64.min, text: "")
        for row in rows {
            if row.time / 86_400_000 != day.number {
                day = (row.time / 86_400_000, dayText(Int(row.time / 86_400_000)))
            }
            let fields: [String?] = [
                "\(day.text)T\(clockText(row.time % 86_400_000))Z", row.position.node,
                row.position.spool, "\(row.position.sequence)", row.event.rawValue, row.cause?.rawValue ?? "",
                "\(row.count)", row.tenant, row.account, row.device, row.address, row.country, row.content, row.kid,
                row.api, row.kind, row.seconds.map { "\($0)" }, row.policy, row.policyDigest, row.session,
                row.requestID, row.code, row.reason, row.microseconds.map { "\($0)" }, row.decision,
            ]
            for (index, field) in fields.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: "\t")) }
                append(field, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func clockText(_ milliseconds: Int64) -> String {
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let (seconds, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return
            "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(fraction, 3))"
    }

    /// Days since 1970 as `2026-11-27`.
    static func dayText(_ day: Int) -> String {
        String(DateText.text(Date(timeIntervalSince1970: Double(day) * 86_400)).prefix(10))
    }

    /// PostgreSQL's texts cannot hold a NUL.
    private static func append(_ field: String?, to bytes: inout [UInt8]) {
        guard let field else { return bytes.append(contentsOf: "\\N".utf8) }
        for byte in field.utf8 where byte != 0 {
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
            default: bytes.append(byte)
            }
        }
    }
}
