import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses

/// Roll-ups of the record: they have every row once, whatever happens, and answer what rows would.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: PostgreSQLProcess.programs != nil))
struct PostgreSQLRollupTests {
    /// 2026-11-25 by UTC.
    private static let day: Int64 = 1_795_564_800_000
    private static let hour: Int64 = 3_600_000
    private static let range = day..<day + 72 * hour

    /// A database with a record, and reports on it.
    private struct Stage {
        let server: PostgreSQLProcess
        let database: String
        let record: PostgreSQLRecord
        let reports: PostgreSQLRecordReports
        var owner: Secret { server.address(of: database) }

        init(role: String? = nil) async throws {
            server = try await PostgreSQLProcess.shared.value
            database = try await server.database()
            if let role {
                let sql = "CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'"
                try await server.query(sql, in: database)
            }
            let owner = server.address(of: database)
            try await PostgreSQLStore.open(owner, .patient, migrates: true, granting: role).close()
            let address = if let role { server.address(of: database, role: role) } else { owner }
            record = try PostgreSQLRecord(address, limit: .seconds(60))
            reports = try PostgreSQLRecordReports(address, reader: record, limit: .seconds(60))
        }

        func close() {
            reports.close()
            record.close()
        }

        func rebuild(_ times: Range<Int64>? = nil) async throws -> Int {
            let rollups = try RecordRollups(owner)
            defer { rollups.close() }
            return try await rollups.rebuild(times) { _ in }
        }

        /// A connection of the owner.
        func connection() throws -> PostgreSQLPool {
            let setup = PostgreSQLLane.Setup(
                hosts: try PostgreSQLHosts(owner), isDurable: false, statementLimit: .seconds(60))
            return try PostgreSQLPool(setup, count: 1, name: "connection")
        }

        /// All roll-ups as one text.
        var content: String {
            get async throws {
                let sql = """
                    SELECT coalesce(string_agg(line, '\n' ORDER BY line), '') FROM (
                        SELECT rollups::text AS line FROM latchkey.rollups UNION ALL SELECT sketches::text FROM latchkey.sketches) AS all_lines
                    """
                return try #require(try await server.query(sql, in: database).first).text(0)
            }
        }

        /// Compares every report that roll-ups can answer with a count of rows.
        func compare(_ times: Range<Int64> = range, isEmpty: Bool = false) async throws {
            for grouping in RecordReport.Grouping.allCases where ![.account, .device].contains(grouping) {
                for filter in 0..<6 {
                    var report = RecordReport(of: filter == 0 ? nil : "acme", times: times, by: grouping)
                    if filter == 2, [.hour, .day, .tenant, .content].contains(grouping) { report.content = "a/1" }
                    if filter == 3, [.hour, .day, .tenant, .code].contains(grouping) { report.code = "limit" }
                    if filter == 4 { report.event = .refusal }
                    if filter == 5 { report.limit = 2 }
                    let fast = try await reports.report(report)
                    report.isExact = true
                    let exact = try await reports.report(report)
                    #expect(fast.source == .rollups && exact.source == .rows, "\(grouping) \(filter) \(fast.remarks)")
                    #expect(fast.groups.map(\.key) == exact.groups.map(\.key), "\(grouping) \(filter)")
                    #expect(fast.groups.map(\.figures.counts) == exact.groups.map(\.figures.counts))
                    #expect(fast.total.counts == exact.total.counts && fast.groupCount == exact.groupCount)
                    #expect((fast.total.counts == [0, 0, 0]) == isEmpty || filter > 1, "\(grouping) \(filter)")
                    let groups = [.hour, .day, .tenant].contains(grouping) ? fast.groups : []
                    for figures in filter < 2 ? groups.map(\.figures) + [fast.total] : [] {
                        #expect(figures.latency.counts.values.reduce(0, +) == figures.licenses + figures.renewals)
                    }
                }
            }
        }
    }

    /// Rows of few names and of three days, for one spool.
    private static func batches(_ seed: UInt64, spool: String = "00112233aabbccdd") -> [RecordBatch] {
        var generator = SeededGenerator(seed: seed)
        func pick(_ names: [String]) -> String { names.randomElement(using: &generator) ?? "" }
        var number = 0
        return (0..<3).flatMap { day in
            (0..<3).map { _ in
                let lines = (0..<100).map { _ in
                    let begin = Self.day + Int64(day * 24) * Self.hour
                    let time = begin + Int64.random(in: 0..<24 * Self.hour, using: &generator)
                    var row = LicenseRecordRow.sample(
                        LicenseRecordRow.Event.allCases.randomElement(using: &generator) ?? .license, time,
                        pick(["", "ann", "bob", "cyd"]), tenant: pick(["acme", "acme", "other"]),
                        content: pick(["", "a/1", "日本"]), code: pick(["", "limit"]), country: pick(["DE", "FR"]),
                        policy: pick(["gold", "basic"]), count: Int.random(in: 1...3, using: &generator),
                        api: pick(["fairplay", "ezdrm", "clearkey", "slot", "session"]))
                    number += 1
                    row.microseconds = Int.random(in: 0...5_000, using: &generator)
                    row.position = RecordPosition(node: "n1", spool: spool, sequence: UInt64(number))
                    return RecordBatch.Line(sequence: UInt64(number), time: time, json: row.json)
                }
                return RecordBatch(node: "n1", spool: spool, lines: lines)
            }
        }
    }

    @Test func `reports from roll-ups match the rows, also after batches sent twice, split or rejected`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        try await stage.compare(isEmpty: true)
        let batches = Self.batches(1)
        for batch in batches {
            _ = try await stage.record.take(batch)
            _ = try await stage.record.take(batch)
        }
        for other in Self.batches(2, spool: "ffffffffffffffff") {
            // The first part was taken, and its reply was lost.
            let first = RecordBatch(node: other.node, spool: other.spool, lines: Array(other.lines.prefix(30)))
            _ = try await stage.record.take(first)
            _ = try await stage.record.take(other)
        }
        try await stage.server.query(
            "ALTER TABLE latchkey.license_records ADD CHECK (account <> 'otto')", in: stage.database)
        await #expect(throws: StoreError.self) {
            try await stage.record.take(.sample(1...5, spool: "a") { if $0.requestID == "3" { $0.account = "otto" } })
        }
        try await stage.compare()
        // Hours, and a range that ends now.
        try await stage.compare(Self.day + 5 * Self.hour..<Self.day + 50 * Self.hour)
        var report = RecordReport(of: "acme", times: Self.day + Self.hour..<Self.day + 100 * Self.hour - 7)
        #expect(try await stage.reports.report(report).source == .rows)
        report.endsNow = true
        #expect(try await stage.reports.report(report).source == .rollups)
        report.account = "ann"
        #expect(try await stage.reports.report(report).source == .rows)
    }

    @Test func `a rebuild gives the same roll-ups`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        for batch in Self.batches(3) { _ = try await stage.record.take(batch) }
        let before = try await stage.content
        #expect(before.count > 10_000)
        try await stage.server.query("UPDATE latchkey.rollups SET licenses = licenses + 1", in: stage.database)
        try await stage.server.query(
            "DELETE FROM latchkey.rollups WHERE dimension IN ('api', 'content-day')", in: stage.database)
        try await stage.server.query("DELETE FROM latchkey.sketches WHERE figure = 'devices'", in: stage.database)
        #expect(try await stage.rebuild() == 0)
        #expect(try await stage.rebuild(Self.range) > 0)
        #expect(try await stage.content == before)
    }

    @Test func `rows that are added while their day is rebuilt are counted once`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        _ = try await stage.record.take(.sample(1...1) { $0.time = Self.day })
        let batch = try stage.connection()
        defer { batch.close() }
        func run(_ sql: String) async throws { _ = try await batch.run(PostgreSQLCall(sql, sql), within: .seconds(60)) }
        try await run("BEGIN")
        // An hour without roll-ups yet. Without its lock, the rebuild would find none to delete, wait for the row of the day's sketch, and
        // then add the committed row to a roll-up that has it already.
        let changes = #"{"time": "2026-11-25 05:00Z", "account": "bob"}"#
        try await run(
            """
            INSERT INTO latchkey.license_records
            SELECT (jsonb_populate_record(kept, '\(changes)')).* FROM latchkey.license_records AS kept
            """)
        let rebuilding = try await stage.server.untilBlocked(in: stage.database) {
            try await stage.rebuild(Self.day..<Self.day + 24 * Self.hour)
        }
        try await run("COMMIT")
        #expect(try await rebuilding.value > 0)
        try await stage.compare()
    }

    @Test func `a report's settings end with it`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        let connection = try stage.connection()
        defer { connection.close() }
        let report = try #require(PostgreSQLRollupReport(RecordReport(of: nil, times: Self.range)))
        let setting = PostgreSQLCall("setting", "SELECT current_setting('enable_sort')")
        let during = try await connection.run(report.calls + [setting], within: .seconds(60))
        let after = try await connection.run(setting, within: .seconds(60))
        #expect(try during.last?.rows.first?.text(0) == "off" && after.rows.first?.text(0) == "on")
    }

    @Test func `the rows of an older database are counted from rows until a rebuild`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        try await stage.server.query("DROP TRIGGER roll_up ON latchkey.license_records", in: stage.database)
        try await stage.server.query(
            "DROP TABLE latchkey.rollups, latchkey.sketches, latchkey.rollup_state", in: stage.database)
        for batch in Self.batches(4) { _ = try await stage.record.take(batch) }
        try await PostgreSQLStore.open(stage.owner, .patient, migrates: true).close()
        let report = RecordReport(of: "acme", times: Self.range)
        let old = try await stage.reports.report(report)
        #expect(old.source == .rows && old.remarks.first?.contains("rollups rebuild") == true, "\(old.remarks)")
        #expect(try await stage.rebuild() > 2)
        try await stage.compare()
        #expect(try await stage.reports.report(report).total.counts == old.total.counts)
    }

    @Test func `roll-ups outlive the rows, for the days that the owner sets`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        for batch in Self.batches(5) { _ = try await stage.record.take(batch) }
        let report = RecordReport(of: "acme", times: Self.range)
        let before = try await stage.reports.report(report)
        for day in 25...27 {
            try await stage.server.query("DROP TABLE latchkey.license_records_202611\(day)", in: stage.database)
        }
        #expect(try await stage.rebuild(Self.range) == 0)
        let after = try await stage.reports.report(report)
        #expect(after.groups == before.groups && after.total == before.total && after.source == .rollups)
        #expect(after.oldest.map { $0 - $0 % (24 * Self.hour) } == Self.day)
        let rollups = try RecordRollups(stage.owner)
        defer { rollups.close() }
        // From 2026-11-26 on, by the database's clock.
        let sql = "SELECT ((now() AT TIME ZONE 'UTC')::date - date '2026-11-26' + 1)::bigint"
        let days = try #require(try await stage.server.query(sql, in: stage.database).first).integer(0)
        try await rollups.keep(days: Int(days))
        _ = try await stage.record.keepDays(today: Int(Self.day / (24 * Self.hour)), days: nil)
        let cut = try await stage.reports.report(report)
        #expect(cut.source == .rows)
        var later = report
        later.times = Self.day + 24 * Self.hour..<Self.range.upperBound
        let rest = try await stage.reports.report(later)
        #expect(rest.source == .rollups && rest.groups == Array(before.groups.dropFirst()))
    }

    @Test func `a server's role adds to roll-ups only by adding rows`() async throws {
        let role = "rollups_\(UInt32.random(in: 0...(.max)))"
        let stage = try await Stage(role: role)
        defer { stage.close() }
        for batch in Self.batches(6) { _ = try await stage.record.take(batch) }
        try await stage.compare()
        let store = try await PostgreSQLStore.open(stage.server.address(of: stage.database, role: role), .patient)
        defer { store.close() }
        for sql in [
            "UPDATE latchkey.rollups SET licenses = 0", "DELETE FROM latchkey.rollups", "DELETE FROM latchkey.sketches",
            "INSERT INTO latchkey.rollups VALUES ('api', now(), 'acme', '', 1, 1, 1)",
            "UPDATE latchkey.rollup_state SET days = 1", "SELECT latchkey.rebuild_rollups(now(), now())",
            "ALTER TABLE latchkey.license_records DISABLE TRIGGER roll_up",
        ] {
            let error = await #expect(throws: StoreError.self) {
                try await store.work.run(PostgreSQLCall(sql, sql), within: .seconds(60))
            }
            #expect(error?.reason.contains("42501") == true, "\(sql): \(error?.reason ?? "")")
        }
    }

    @Test func `accounts and latencies are estimated within their errors, for groups and the total`() async throws {
        let stage = try await Stage()
        defer { stage.close() }
        let batch = { (day: Int64, numbers: ClosedRange<Int>) in
            RecordBatch.sample(numbers, spool: "\(day)") { row in
                row.time = Self.day + day * 24 * Self.hour + Int64(row.position.sequence)
                row.account = "account-\(row.position.sequence)"
                (row.device, row.microseconds) = ("device-\(row.position.sequence % 3)", Int(row.position.sequence))
            }
        }
        // Half of the second day's accounts are new.
        for first in stride(from: 1, to: 20_000, by: 5_000) {
            _ = try await stage.record.take(batch(0, first...first + 4_999))
        }
        for first in stride(from: 10_001, to: 30_000, by: 5_000) {
            _ = try await stage.record.take(batch(1, first...first + 4_999))
        }
        let answer = try await stage.reports.report(RecordReport(of: "acme", times: Self.range))
        let counts = try (answer.groups.map(\.figures) + [answer.total]).map { try #require($0.accounts) }
        for (count, truth) in zip(counts, [20_000.0, 20_000, 30_000]) {
            #expect(abs(Double(count) / truth - 1) < 4 * DistinctSketch.error, "\(counts)")
        }
        #expect(answer.total.devices == 3 && answer.total.sessions == 0)
        #expect(answer.remarks.first?.contains("1.6 %") == true, "\(answer.remarks)")
        let first = answer.groups[0].figures.latency
        for (percent, truth) in [(50, 10_000.0), (95, 19_000), (99, 19_800)] {
            let found = try #require(first.percentile(percent))
            #expect(abs(Double(found) / truth - 1) < 0.05, "\(percent): \(found)")
        }
        // Refusals have no license to wait for, and a part of a day has no sketch.
        var report = RecordReport(of: "acme", times: Self.range)
        report.event = .refusal
        let refusals = try await stage.reports.report(report).total
        #expect(refusals.latency.percentile(50) == nil && refusals.accounts == 0)
        let hours = RecordReport(of: "acme", times: Self.day..<Self.day + Self.hour)
        let part = try await stage.reports.report(hours)
        #expect(part.total.accounts == nil && part.total.licenses == 20_000 && part.remarks.count == 1)
    }
}

extension RecordFigures {
    /// Licenses, renewals and refusals.
    fileprivate var counts: [Int] { [licenses, renewals, refusals] }
}
