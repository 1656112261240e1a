package import LatchkeyCore
package import LatchkeySystem
import LatchkeyVault

/// The owner's work on the roll-ups of a record in PostgreSQL.
///
/// Source: `Documentation/Server/Record.md` §3.3.
package struct RecordRollups: Sendable {
    private static let limit = Duration.seconds(3_600)
    private let pool: PostgreSQLPool

    /// Connects when there is something to do.
    /// - Parameter address: `postgresql://…`, with the role that owns the tables.
    /// - Throws: `StoreError` for an invalid address.
    package init(_ address: Secret) throws(StoreError) {
        pool = try PostgreSQLPool(
            PostgreSQLLane.Setup(hosts: try PostgreSQLHosts(address), isDurable: true, statementLimit: Self.limit),
            count: 1, name: "rollups")
    }

    package func close() { pool.close() }

    /// Counts the rows of some days again while nodes run: the latest day first, a day at a time, and the current day by hours.
    /// - Parameters:
    ///   - times: the days in milliseconds since 1970; `nil` for those whose rows are not all in roll-ups.
    ///   - done: gets the beginning of each finished part.
    /// - Returns: the number of parts. Days whose rows were dropped are left out.
    /// - Throws: `StoreError`. Finished parts stay.
    package func rebuild(_ times: Range<Int64>?, _ done: (Int64) -> Void) async throws(StoreError) -> Int {
        let parts = try await pool.run(
            PostgreSQLCall(
                "rollup-parts",
                """
                WITH wanted AS (
                    SELECT greatest($1, oldest) AS first, date_trunc('day', now(), 'UTC') AS today,
                        coalesce($2, (SELECT since FROM latchkey.rollup_state WHERE isfinite(since))) AS past
                    FROM (SELECT min(begins) AS oldest FROM (\(PostgreSQLRecordSchema.days)) AS days) AS kept
                    WHERE oldest IS NOT NULL)
                SELECT first, first + length FROM (
                    SELECT day AS first, interval '24 hours' AS length
                    FROM wanted, generate_series(wanted.first, past, interval '24 hours') AS day WHERE day < today AND day < past
                    UNION ALL
                    SELECT hour, interval '1 hour'
                    FROM wanted, generate_series(greatest(wanted.first, today), past, interval '1 hour') AS hour WHERE hour < past
                ) AS parts ORDER BY first DESC
                """,
                [times?.lowerBound, times?.upperBound].map { time in
                    time.map { PostgreSQLValue.date(RecordRange.date($0)) } ?? .null(.time)
                }),
            within: Self.limit
        ).rows
        for part in parts {
            let (first, past) = (try part.date(0), try part.date(1))
            _ = try await pool.run(
                PostgreSQLCall(
                    "rollup-rebuild", "SELECT latchkey.rebuild_rollups($1, $2)", [.date(first), .date(past)]),
                within: Self.limit)
            done(RecordRange.milliseconds(first))
        }
        return parts.count
    }

    /// Sets how many days roll-ups stay.
    /// - Throws: `StoreError`.
    package func keep(days: Int) async throws(StoreError) {
        _ = try await pool.run(
            PostgreSQLCall(
                "rollup-days", "UPDATE latchkey.rollup_state SET days = $1", [.integer(Int64(max(1, days)))]),
            within: .seconds(15))
    }
}
