import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses

/// A report's cost for the database, and the error if the database does not answer it.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: PostgreSQLProcess.programs != nil))
struct PostgreSQLRecordReportsTests {
    /// 2026-11-01 by UTC.
    private static let begin: Int64 = 1_793_491_200_000
    private static let day: Int64 = 86_400_000

    /// A database with a million rows of ten days, ten at a time with the same account, and without roll-ups.
    private static func fill(_ server: PostgreSQLProcess, _ database: String) async throws {
        try await server.query("ALTER TABLE latchkey.license_records DISABLE TRIGGER roll_up", in: database)
        for day in 0..<10 {
            try await server.query("SELECT latchkey.make_record_day(date '2026-11-01' + \(day))", in: database)
        }
        try await server.query(
            """
            INSERT INTO latchkey.license_records
            SELECT timestamptz '2026-11-01 00:00:00Z' + n * interval '864 milliseconds', 'a', '00', n,
                CASE WHEN n % 10 = 0 THEN 'refusal' ELSE 'license' END, '', 1, 'acme', 'account-' || n / 10, 'device-' || n / 10,
                '', 'DE', 'content-' || n % 1000, '', 'fairplay', '', NULL, '', '', 'session-' || n / 10, '', '', '', NULL, NULL
            FROM generate_series(0, 999999) AS n
            """, in: database)
        try await server.query("ANALYZE latchkey.license_records", in: database)
    }

    @Test func `a report on one day of a million rows reads only that day's partition`() async throws {
        let server = try await PostgreSQLProcess.shared.value
        let database = try await server.database()
        let address = server.address(of: database)
        try await PostgreSQLStore.open(address, .patient, migrates: true).close()
        try await Self.fill(server, database)
        let record = try PostgreSQLRecord(address)
        defer { record.close() }

        let times = Self.begin + 3 * Self.day..<Self.begin + 4 * Self.day
        let reports = try PostgreSQLRecordReports(address, reader: record, limit: .seconds(120))
        defer { reports.close() }
        var report = RecordReport(of: "acme", times: times)
        report.isExact = true
        let answer = try await reports.report(report)
        #expect(answer.groups.map(\.key) == [.time(times.lowerBound)])
        #expect(answer.total.named.prefix(6).map(\.value) == [90_000, 0, 10_000, 10_000, 10_000, 10_000])

        let call = RecordReport(of: "acme", times: times).statement
        let setup = PostgreSQLLane.Setup(
            hosts: try PostgreSQLHosts(address), isDurable: false, statementLimit: .seconds(120))
        let pool = try PostgreSQLPool(setup, count: 1, name: "explain")
        defer { pool.close() }
        let plan = try await pool.run(
            PostgreSQLCall("explain", "EXPLAIN (ANALYZE, TIMING OFF) \(call.sql)", call.values), within: .seconds(120))
        let lines = try plan.rows.map { try $0.text(0) }
        let scans = lines.filter {
            $0.contains("Scan") && $0.contains("license_records_") && !$0.contains("never executed")
        }
        #expect(scans.allSatisfy { $0.contains("license_records_20261104") } && !scans.isEmpty, "\(lines)")
        let read = scans.compactMap { line -> Int? in
            guard let found = line.firstMatch(of: /actual rows=(\d+) loops=(\d+)/), let rows = Int(found.1),
                let loops = Int(found.2)
            else { return nil }
            return rows * loops
        }
        // Several processes may share one scan; their mean is rounded.
        #expect(read.reduce(0, +) <= 100_010, "\(lines)")

        // A question that PostgreSQL gives up gets its own error, and the next question is answered.
        let hurried = try PostgreSQLRecordReports(address, reader: record, limit: .milliseconds(5))
        defer { hurried.close() }
        let whole = RecordReport(of: "acme", times: Self.begin..<Self.begin + 10 * Self.day, by: .account)
        var refusal: StoreError?
        // It may be late on a busy machine.
        repeat {
            do { _ = try await hurried.report(whole) } catch { refusal = error }
        } while refusal?.kind == .unavailable
        #expect(refusal?.kind == .unfit && refusal?.remedy.contains("shorter range") == true)
        let cut = try await reports.report(whole)
        #expect(cut.groups.count == RecordReport.mostGroups && cut.groupCount == 100_000)
        #expect(cut.total.accounts == 100_000 && cut.total.licenses == 900_000)
    }

    @Test(arguments: [true, false])
    func `a database that hangs or is gone is reported as down, then answers again`(_ hangs: Bool) async throws {
        let server = try await PostgreSQLProcess()
        let address = server.address(of: try await server.database())
        try await PostgreSQLStore.open(address, .patient, migrates: true).close()
        let record = try PostgreSQLRecord(address, limit: .seconds(60))
        defer { record.close() }
        let reports = try PostgreSQLRecordReports(address, reader: record, limit: .seconds(2))
        defer { reports.close() }
        let report = RecordReport(of: "acme", times: Self.begin..<Self.begin + Self.day)
        while await errorKind(of: { _ = try await reports.report(report) }) != nil {}
        if hangs { try server.hang(true) } else { try await server.stop() }
        #expect(await errorKind(of: { _ = try await reports.report(report) }) == .unavailable)
        #expect(await errorKind(of: { _ = try await reports.standing(of: "acme") }) == .unavailable)
        if hangs { try server.hang(false) } else { try await server.start() }
        var answer = try? await reports.report(report)
        while answer == nil { answer = try? await reports.report(report) }
        #expect(answer?.total == RecordFigures())
    }

    @Test func `the server role reads reports with only a migration's grants`() async throws {
        let server = try await PostgreSQLProcess.shared.value
        let database = try await server.database()
        let owner = server.address(of: database)
        let role = "reader_\(database)"
        try await server.query("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLProcess.password)'", in: database)
        try await PostgreSQLStore.open(owner, .patient, migrates: true, granting: role).close()
        let address = server.address(of: database, role: role)
        let record = try PostgreSQLRecord(address, limit: .seconds(60))
        defer { record.close() }
        let reports = try PostgreSQLRecordReports(address, reader: record, limit: .seconds(60))
        defer { reports.close() }
        let times = Self.begin..<Self.begin + Self.day
        #expect(try await reports.report(RecordReport(of: "acme", times: times)).groupCount == 0)
        #expect(try await reports.viewers(.init(of: "acme", times: times)).points.isEmpty)
        for tenant in ["acme", nil] { #expect(try await reports.standing(of: tenant).oldest == nil) }
    }
}
