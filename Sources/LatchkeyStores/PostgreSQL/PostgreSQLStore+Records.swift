package import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension PostgreSQLStore {
    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        let answer = try await records.run(
            PostgreSQLCall(
                "record-read",
                """
                SELECT clock_timestamp(), version, bytes FROM (SELECT) AS always LEFT JOIN latchkey.records
                ON tenant = $1 AND kind = $2 AND name = $3 AND ends > clock_timestamp()
                """, key.values), within: settings.recordLimit)
        guard let row = answer.rows.first else { throw PostgreSQLFailure("XX000").error }
        let record =
            row.isNull(1) ? nil : Record(version: UInt64(bitPattern: try row.integer(1)), bytes: try row.bytes(2))
        return RecordReading(record: record, now: try row.date(0))
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try key.check(for: engine)
        try record.check(for: engine)
        let version = PostgreSQLValue.integer(Int64(bitPattern: record.version))
        let counted = ends.map(StoredTime.microseconds).sorted(by: >).map { PostgreSQLValue.integer($0) }
        let values = key.values + [version, .date(end), .bytes(record.bytes), .array(.integer, counted)]
        let call =
            if let replaced {
                PostgreSQLCall("record-update", Self.update, values + [.integer(Int64(bitPattern: replaced))])
            } else {
                PostgreSQLCall("record-insert", Self.insert, values)
            }
        let answer = try await records.run(call, within: settings.recordLimit)
        forgetEnded()
        return answer.count == 1
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try await records.run(
            PostgreSQLCall(
                "record-remove",
                """
                DELETE FROM latchkey.records
                WHERE tenant = $1 AND kind = $2 AND name = $3 AND version = $4 AND ends > clock_timestamp()
                """, key.values + [.integer(Int64(bitPattern: version))]), within: settings.recordLimit
        ).count == 1
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let prefix = Array(prefix.utf8)
        let answer = try await work.run(
            PostgreSQLCall(
                "record-page",
                """
                SELECT name, version, bytes, ends FROM latchkey.records
                WHERE tenant = $1 AND kind = $2 AND name >= $3 AND name < $4 AND name > $5 AND ends > clock_timestamp()
                ORDER BY name LIMIT $6
                """,
                [
                    .text(tenant), .text(kind.rawValue), .bytes(prefix), .bytes(NameRange.end(ofNamesWith: prefix)),
                    .bytes((name ?? "").utf8), .integer(Int64(StoreLimits.page(limit))),
                ]), within: settings.pageLimit)
        return try answer.rows.map { row throws(StoreError) in try row.namedRecord() }
    }

    private static let insert = """
        INSERT INTO latchkey.records AS held (tenant, kind, name, version, ends, bytes, counted, counted_of)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $4)
        ON CONFLICT (tenant, kind, name)
        DO UPDATE SET version = excluded.version, ends = excluded.ends, bytes = excluded.bytes,
            counted = excluded.counted, counted_of = excluded.counted_of
        WHERE held.ends <= clock_timestamp()
        """

    private static let update = """
        UPDATE latchkey.records SET version = $4, ends = $5, bytes = $6, counted = $7, counted_of = $4
        WHERE tenant = $1 AND kind = $2 AND name = $3 AND version = $8 AND ends > clock_timestamp()
        """
}

// MARK: - Forgetting

/// This node's position on its way through the table, a few pages at a time.
///
/// Without an index over the end of records, an update touches no index at all; so ended ones are searched page by page.
struct RecordSweep: Sendable {
    /// The number of writes between two steps, and the number of pages of a step.
    static let writes = 256
    static let pages: Int64 = 128

    private var written = 0
    private var page: Int64 = 0

    /// - Returns: the pages of the next step; `nil` if it is not time.
    mutating func next() -> Range<Int64>? {
        written += 1
        guard written >= Self.writes else { return nil }
        written = 0
        defer { page += Self.pages }
        return page..<page + Self.pages
    }

    /// Starts over after the last page of the table.
    mutating func passed(end count: Int64) { if page >= count { page = 0 } }
}

extension PostgreSQLStore {
    /// Deletes some ended records now and then. Callers do not wait for it, and failures are retried another time.
    private func forgetEnded() {
        guard let pages = sweep.withLock({ $0.next() }) else { return }
        Task { [work, sweep, settings] in
            let answer = try await work.run(
                PostgreSQLCall(
                    "record-sweep",
                    """
                    WITH gone AS (
                        DELETE FROM latchkey.records
                        WHERE ctid >= $1::text::tid AND ctid < $2::text::tid AND ends <= clock_timestamp() RETURNING 1)
                    SELECT pg_relation_size('latchkey.records') / current_setting('block_size')::bigint, count(*) FROM gone
                    """, [.text("(\(pages.lowerBound),0)"), .text("(\(pages.upperBound),0)")]),
                within: settings.keyLimit)
            guard let count = try answer.rows.first?.integer(0) else { return }
            sweep.withLock { $0.passed(end: count) }
        }
    }
}

extension RecordKey {
    fileprivate var values: [PostgreSQLValue] { [.text(tenant), .text(kind.rawValue), .bytes(name.utf8)] }
}
