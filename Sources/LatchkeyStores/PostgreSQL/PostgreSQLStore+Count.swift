package import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension PostgreSQLStore {
    /// The most records to read because a server that keeps no count wrote them.
    private static let mostOthers = 20_000

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let place: [PostgreSQLValue] = [.text(tenant), .text(kind.rawValue)]
        let answer = try await work.run(
            PostgreSQLCall("record-count", Self.kept, place), within: settings.pageLimit)
        guard let row = answer.rows.first else { throw PostgreSQLFailure("XX000").error }
        let (kept, others, now) = (try row.integer(0), try row.integer(1), try row.date(2))
        guard others > 0 else { return RecordCount(Int(clamping: kept), isWhole: true) }
        let most = max(0, min(most, Self.mostOthers))
        let rest = try await work.run(
            PostgreSQLCall("record-count-others", Self.others, place + [.integer(Int64(most) + 1)]),
            within: settings.pageLimit)
        var count = Int(clamping: kept)
        for row in rest.rows.prefix(most) { count += ends(try row.bytes(0)).count { $0 > now } }
        return RecordCount(count, isWhole: rest.rows.count <= most)
    }

    /// The sum of counted things, the number of records without a count, and the current time. It scans the whole table, but no record bytes
    /// leave the database: an index over the ends would cost each license.
    private static let kept = """
        WITH now AS MATERIALIZED (
            SELECT clock_timestamp() AS time, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS number),
        found AS (
            SELECT CASE
                WHEN counted_of IS DISTINCT FROM version THEN NULL
                WHEN cardinality(counted) = 0 OR counted[1] <= now.number THEN 0
                WHEN cardinality(counted) = 1 THEN 1
                ELSE (SELECT count(*) FROM unnest(counted) AS one WHERE one > now.number) END AS things
            FROM latchkey.records, now WHERE tenant = $1 AND kind = $2 AND ends > now.time)
        SELECT coalesce(sum(things), 0)::bigint, count(*) - count(things), (SELECT time FROM now) FROM found
        """

    private static let others = """
        SELECT bytes FROM latchkey.records
        WHERE tenant = $1 AND kind = $2 AND counted_of IS DISTINCT FROM version AND ends > clock_timestamp() LIMIT $3
        """
}
