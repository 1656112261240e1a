import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyVault

@testable import LatchkeyStores

/// A month of licenses in PostgreSQL: the rows of its last day, the roll-ups of all days, and the duration of each report.
///
/// The other days have the last day's counts. Their sketches are the last day's with their registers turned, which are those of as many other
/// names.
struct RollupMeasurement {
    /// 2026-11-30 by UTC.
    private static let last: Int64 = 1_795_996_800_000
    private static let day: Int64 = 86_400_000

    private let reports: PostgreSQLRecordReports
    private let rollups: RecordRollups
    private let pool: PostgreSQLPool

    /// - Parameter address: `postgresql://…` of a migrated, empty database, as its owner.
    init(_ address: String) throws {
        let reader = try PostgreSQLRecord(Secret(address))
        reports = try PostgreSQLRecordReports(Secret(address), reader: reader, limit: .seconds(3_600))
        rollups = try RecordRollups(Secret(address))
        let setup = PostgreSQLLane.Setup(
            hosts: try PostgreSQLHosts(Secret(address)), isDurable: false, statementLimit: .seconds(3_600))
        pool = try PostgreSQLPool(setup, count: 1, name: "measurement")
    }

    /// - Parameter count: the month's licenses, renewals and refusals.
    func run(_ count: Int) async throws {
        try await time("rows of the last day") { try await fill(count / 30) }
        try await time("roll-ups of the other days") {
            for sql in [
                """
                INSERT INTO latchkey.rollups
                SELECT dimension, begins - k * interval '24 hours', tenant, value, licenses, renewals, refusals
                FROM latchkey.rollups, generate_series(1, 29) AS k
                """,
                """
                INSERT INTO latchkey.sketches
                SELECT begins - k * interval '24 hours', tenant, figure, event,
                    substr(registers, k * 100 + 1) || substr(registers, 1, k * 100)
                FROM latchkey.sketches, generate_series(1, 29) AS k
                """, "ANALYZE",
            ] { _ = try await query(sql) }
            return "\(try await query("SELECT count(*) FROM latchkey.rollups").first?.integer(0) ?? 0) roll-ups"
        }
        for table in ["rollups", "sketches", "license_records_20261130"] {
            let bytes = try await query("SELECT pg_total_relation_size('latchkey.\(table)')").first?.integer(0) ?? 0
            print("\(table): \(bytes >> 20) MiB")
        }
        let month = Self.last - 29 * Self.day..<Self.last + Self.day
        // The first round reads roll-ups that were just added; the second one reads them again.
        for grouping in RecordReport.Grouping.allCases + RecordReport.Grouping.allCases
        where ![.account, .device].contains(grouping) {
            for tenant in ["tenant-1", nil] {
                try await time("\(tenant ?? "all tenants") by \(grouping)") {
                    let answer = try await reports.report(RecordReport(of: tenant, times: month, by: grouping))
                    let total = answer.total
                    return
                        "\(answer.source), \(answer.groupCount) groups, \(total.licenses + total.renewals + total.refusals) requests, \(total.accounts ?? -1) accounts, p95 \(total.latency.percentile(95) ?? -1) µs"
                }
            }
        }
        var report = RecordReport(of: nil, times: Self.last..<Self.last + Self.day, by: .content)
        let fast = try await reports.report(report)
        report.isExact = true
        try await time("last day's rows by content") {
            let exact = try await reports.report(report)
            let isSame = zip(fast.groups, exact.groups).allSatisfy { one, other in
                let figures = [one, other].map { $0.figures.named.prefix(3).map(\.value) }
                return one.key == other.key && figures[0] == figures[1]
            }
            return
                "roll-ups \(isSame && fast.groupCount == exact.groupCount ? "match" : "DIFFER"), \(fast.total.accounts ?? 0) of \(exact.total.accounts ?? 0) accounts"
        }
        let before = try await digest()
        try await time("rebuild of the last day") {
            _ = try await rollups.rebuild(Self.last..<Self.last + Self.day) { _ in }
            return try await digest() == before ? "the same" : "OTHER"
        }
    }

    private func digest() async throws -> String {
        let sql = """
            SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM (
                SELECT rollups::text AS line FROM latchkey.rollups WHERE begins >= '2026-11-30'
                UNION ALL SELECT sketches::text FROM latchkey.sketches WHERE begins >= '2026-11-30') AS lines
            """
        return try await query(sql).first?.text(0) ?? ""
    }

    private func query(_ sql: String) async throws -> [PostgreSQLRow] {
        try await pool.run(PostgreSQLCall("measure-\(sql.hashValue)", sql), within: .seconds(3_600)).rows
    }

    /// Adds rows of 20 tenants, 5,000 titles, 30 countries and 2,000,000 accounts, in transactions of 5,000 as nodes do; their trigger adds roll-ups.
    private func fill(_ count: Int) async throws -> String {
        _ = try await query("SELECT latchkey.make_record_day('2026-11-30')")
        for first in stride(from: 0, to: count, by: 5_000) {
            let call = PostgreSQLCall(
                "measure-fill",
                """
                INSERT INTO latchkey.license_records (\(PostgreSQLRecordSchema.columns.joined(separator: ", ")))
                SELECT timestamptz '2026-11-30 00:00:00Z' + floor(n * 86400000.0 / $2) * interval '1 millisecond', 'node-a',
                    '00000000000000bb', n + 1,
                    CASE WHEN n % 10 = 0 THEN 'refusal' WHEN n % 3 = 0 THEN 'renewal' ELSE 'license' END, '', 1,
                    'tenant-' || title % 20, 'account-' || account, 'device-' || account || '-' || n % 2, '',
                    'C' || account % 30, 'title-' || title, '', (ARRAY['fairplay', 'clearkey', 'drmtoday'])[n % 3 + 1],
                    'lease', 300, 'standard', '', 'session-' || n / 3, 'request-' || n,
                    CASE WHEN n % 10 = 0 THEN 'code-' || n % 7 ELSE '' END,
                    CASE WHEN n % 10 = 0 THEN 'A stream limit was reached.' ELSE '' END, 400 + n * 2654435761 % 4000, NULL
                FROM (SELECT n, n * 31 % 5000 AS title, n * 7919 % 2000000 AS account
                    FROM generate_series($1, least($1 + 5000, $2) - 1) AS n) AS numbers
                """, [.integer(Int64(first)), .integer(Int64(count))])
            _ = try await pool.run(call, within: .seconds(3_600))
        }
        return "\(count) rows"
    }

    private func time(_ name: String, _ body: () async throws -> String) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let told = try await body()
        print("\(name.padding(toLength: 34, withPad: " ", startingAt: 0)) \(start.duration(to: clock.now)): \(told)")
    }
}
