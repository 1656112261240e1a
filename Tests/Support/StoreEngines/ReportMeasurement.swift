import Foundation
import LatchkeyCore
import LatchkeyStores
import LatchkeySystem
import LatchkeyVault

/// How long reports take over a record with a number of rows of the ten days from 2026-11-01 on.
struct ReportMeasurement {
    /// 2026-11-01 by UTC.
    private static let begin: Int64 = 1_793_491_200_000
    private static let day: Int64 = 86_400_000
    private static let spool = "00000000000000aa"

    private let destination: any RecordDestination
    private let reporter: any RecordReporter

    /// - Parameter address: `postgresql://…` of a migrated database, or `files:PATH`.
    init(_ address: String) throws {
        if address.hasPrefix("files:") {
            let folder = String(address.dropFirst(6))
            var limits = RecordFileReports.Limits()
            (limits.time, limits.bytes) = (.seconds(3_600), .max)
            destination = RecordFiles(folder: folder)
            reporter = RecordFileReports(folder: folder, limits: limits)
        } else {
            let record = try PostgreSQLRecord(Secret(address))
            destination = record
            reporter = try PostgreSQLRecordReports(Secret(address), reader: record, limit: .seconds(3_600))
        }
    }

    /// - Parameter count: how many rows to add before; 0 to use the existing ones.
    func run(_ count: Int) async throws {
        try await fill(count)
        let whole = Self.begin..<Self.begin + 10 * Self.day
        let one = Self.begin + 4 * Self.day..<Self.begin + 5 * Self.day
        for (name, times, by) in [
            ("10 days by day", whole, RecordReport.Grouping.day), ("10 days by content", whole, .content),
            ("10 days by account", whole, .account), ("1 day by hour", one, .hour), ("1 day by code", one, .code),
        ] {
            try await time(name) {
                var report = RecordReport(of: "acme", times: times, by: by)
                report.isExact = true
                let answer = try await reporter.report(report)
                let (licenses, accounts) = (answer.total.licenses, answer.total.accounts ?? 0)
                return "\(answer.groupCount) groups, \(licenses) licenses, \(accounts) accounts"
            }
        }
        try await time("history of an account, 50 rows") {
            var query = RecordQuery(times: whole, limit: 50)
            (query.tenant, query.account) = ("acme", "account-77")
            return "\(try await reporter.rows(query).count) rows"
        }
        for id in ["request-123456", "request-none"] {
            try await time("why \(id)") {
                var query = RecordQuery(times: 0..<whole.upperBound, limit: 10)
                query.requestID = id
                return "\(try await reporter.rows(query).count) rows"
            }
        }
        try await time("viewers of 10 days") {
            "\(try await reporter.viewers(.init(of: "acme", times: whole)).points.count) points"
        }
        try await time("how far it reaches") { "\(try await reporter.standing(of: "acme").nodes.count) nodes" }
    }

    private func fill(_ count: Int) async throws {
        guard count > 0 else { return }
        let clock = ContinuousClock()
        let start = clock.now
        var (lines, day): ([RecordBatch.Line], Int64) = ([], 0)
        for number in 0..<count {
            let row = row(number, of: count)
            if row.time / Self.day != day || lines.count == 5_000 {
                try await ship(lines)
                (lines, day) = ([], row.time / Self.day)
            }
            lines.append(RecordBatch.Line(sequence: row.position.sequence, time: row.time, json: row.json))
        }
        try await ship(lines)
        print("\(count) rows brought in \(start.duration(to: clock.now))")
    }

    private func ship(_ lines: [RecordBatch.Line]) async throws {
        guard !lines.isEmpty else { return }
        _ = try await destination.take(RecordBatch(node: "node-a", spool: Self.spool, lines: lines))
    }

    private func row(_ number: Int, of count: Int) -> LicenseRecordRow {
        let time = Self.begin + Int64(number) * 10 * Self.day / Int64(count)
        let (account, content) = (number &* 7_919 % 200_000, number &* 31 % 5_000)
        var row = LicenseRecordRow(
            number % 1_000 == 0 ? .viewers : number % 10 == 0 ? .refusal : number % 3 == 0 ? .renewal : .license,
            time: time)
        row.position = RecordPosition(node: "node-a", spool: Self.spool, sequence: UInt64(number + 1))
        (row.tenant, row.account, row.content) = ("acme", "account-\(account)", "channel-\(content)")
        (row.device, row.country, row.session) = ("device-\(account)-\(number % 2)", "DE", "session-\(number / 3)")
        (row.requestID, row.policy, row.api) = ("request-\(number)", "standard", "fairplay")
        (row.kind, row.seconds, row.microseconds) = ("lease", 300, 900)
        if row.event == .refusal {
            (row.code, row.reason) = ("sessionLimit", "Three streams of the account are in use.")
        }
        return row
    }

    private func time(_ name: String, _ body: () async throws -> String) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let told = try await body()
        let padded = name.padding(toLength: 34, withPad: " ", startingAt: 0)
        print("\(padded) \(start.duration(to: clock.now)): \(told)")
    }
}
