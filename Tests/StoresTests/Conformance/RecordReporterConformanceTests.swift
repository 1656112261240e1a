import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses

/// The answers of every `RecordReporter`, whichever engine it has.
@Suite(.timeLimit(.minutes(15))) struct RecordReporterConformanceTests {
    /// 2026-11-25 by UTC.
    private static let day: Int64 = 1_795_564_800_000
    private static let hour: Int64 = 3_600_000
    private static let days: Range<Int64> = day..<day + 72 * hour

    private static let rows: [LicenseRecordRow] = [
        .sample(.license, day + 1, "ann", content: "film", session: "s1", policy: "gold", node: "a", request: "r-1"),
        .sample(.renewal, day + hour, "ann", content: "film", session: "s1", policy: "gold", node: "a"),
        .sample(.license, day + hour, "bob", content: "série", country: "FR", session: "s2", node: "b"),
        // Another form of the same letters.
        .sample(.license, day + 25 * hour, "cyd", content: "se\u{301}rie", session: "s3", api: "drmtoday", node: "b"),
        .sample(.refusal, day + 26 * hour, "cyd", content: "film", code: "sessionLimit", node: "b", request: "r-2"),
        .sample(.refusal, day + 26 * hour, "", code: "tokenForm", count: 40, node: "a"),
        .sample(.end, day + 27 * hour, "cyd", session: "s3", node: "b"),
        .sample(.viewers, day + 27 * hour, "", count: 9, node: "b"),
        .sample(.license, day + 71 * hour, "ann", content: "x'; DROP TABLE y--", session: "s4", node: "a"),
        .sample(.license, day + 71 * hour, "ann", tenant: "other", content: "film", node: "a", request: "r-1"),
        // The first millisecond after the range.
        .sample(.license, day + 72 * hour, "late", content: "film", node: "a"),
    ]

    /// A question, and the groups with their figures: licenses, renewals, refusals, accounts, devices, sessions.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let report: RecordReport
        let groups: [(String, [Int])]
        let total: [Int]

        init(
            _ name: String, by grouping: RecordReport.Grouping, where change: (inout RecordReport) -> Void = { _ in },
            _ groups: [(String, [Int])], total: [Int]
        ) {
            var report = RecordReport(of: "acme", times: days, by: grouping)
            report.isExact = true
            change(&report)
            (testDescription, self.report, self.groups, self.total) = (name, report, groups, total)
        }
    }

    private static let all = [4, 1, 41, 3, 3, 4]
    static let cases: [Case] = [
        Case(
            "by day", by: .day,
            [
                ("\(day)", [2, 1, 0, 2, 2, 2]), ("\(day + 24 * hour)", [1, 0, 41, 1, 1, 1]),
                ("\(day + 48 * hour)", [1, 0, 0, 1, 1, 1]),
            ], total: all),
        Case(
            "by hour of the first day", by: .hour, where: { $0.times = day..<day + 24 * hour },
            [("\(day)", [1, 0, 0, 1, 1, 1]), ("\(day + hour)", [1, 1, 0, 2, 2, 2])], total: [2, 1, 0, 2, 2, 2]),
        Case(
            "by content, whose bytes tell one from another", by: .content,
            [
                ("", [0, 0, 40, 0, 0, 0]), ("film", [1, 1, 1, 2, 2, 1]), ("se\u{301}rie", [1, 0, 0, 1, 1, 1]),
                ("série", [1, 0, 0, 1, 1, 1]), ("x'; DROP TABLE y--", [1, 0, 0, 1, 1, 1]),
            ], total: all),
        Case(
            "by account", by: .account,
            [
                ("", [0, 0, 40, 0, 0, 0]), ("ann", [2, 1, 0, 1, 1, 2]), ("cyd", [1, 0, 1, 1, 1, 1]),
                ("bob", [1, 0, 0, 1, 1, 1]),
            ], total: all),
        Case(
            "by country of one account", by: .country, where: { $0.account = "bob" },
            [("FR", [1, 0, 0, 1, 1, 1])], total: [1, 0, 0, 1, 1, 1]),
        Case(
            "by code of refusals alone", by: .code, where: { $0.event = .refusal },
            [("tokenForm", [0, 0, 40, 0, 0, 0]), ("sessionLimit", [0, 0, 1, 1, 1, 0])], total: [0, 0, 41, 1, 1, 0]),
        Case(
            "by policy of one content", by: .policy, where: { $0.content = "film" },
            [("gold", [1, 1, 0, 1, 1, 1]), ("", [0, 0, 1, 1, 1, 0])], total: [1, 1, 1, 2, 2, 1]),
        Case(
            "by node of one code", by: .node, where: { $0.code = "sessionLimit" },
            [("b", [0, 0, 1, 1, 1, 0])], total: [0, 0, 1, 1, 1, 0]),
        Case(
            "by API", by: .api,
            [("fairplay", [3, 1, 41, 3, 3, 3]), ("drmtoday", [1, 0, 0, 1, 1, 1])], total: all),
        Case(
            "by device, the two with the most rows", by: .device, where: { $0.limit = 2 },
            [("", [0, 0, 40, 0, 0, 0]), ("d-ann", [2, 1, 0, 1, 1, 2])], total: all),
        Case(
            "by hour, the latest one", by: .hour, where: { $0.limit = 1 },
            [("\(day + 71 * hour)", [1, 0, 0, 1, 1, 1])], total: all),
        Case(
            "by tenant, of all", by: .tenant, where: { $0.tenant = nil },
            [("acme", all), ("other", [1, 0, 0, 1, 1, 0])], total: [5, 1, 41, 3, 3, 4]),
        Case("of nobody", by: .day, where: { $0.tenant = "nobody" }, [], total: [0, 0, 0, 0, 0, 0]),
    ]

    @Test(arguments: RecordEngine.installed, cases)
    func `figures match the table`(_ engine: RecordEngine, _ one: Case) async throws {
        try await engine.open(Self.rows) { reporter in
            let answer = try await reporter.report(one.report)
            #expect(answer.groups.map(\.key.plain).map { Array($0.utf8) } == one.groups.map { Array($0.0.utf8) })
            #expect(answer.groups.map(\.figures.numbers) == one.groups.map(\.1))
            #expect(answer.total.numbers == one.total)
            #expect(answer.isCut == (one.report.limit < 10), "\(answer.groupCount)")
        }
    }

    /// Rows of few names, so that many fall together.
    private static let many: [LicenseRecordRow] = {
        var generator = SeededGenerator(seed: 28)
        func pick(_ names: [String]) -> String { names.randomElement(using: &generator) ?? "" }
        return (0..<3_000).map { _ in
            let event = [LicenseRecordRow.Event.license, .renewal, .refusal, .end, .viewers].randomElement(
                using: &generator)
            return .sample(
                event ?? .license, Int64.random(in: days, using: &generator),
                pick(["", "ann", "bob", "a\\b", "tab\there", "=1", "ä"]), tenant: pick(["acme", "acme", "Acme"]),
                content: pick(["", "a/1", "a/2", "A/1", "日本", "🙂"]), code: pick(["", "", "blocked", "limit"]),
                country: pick(["", "DE", "FR"]), session: pick(["", "s1", "s2", "s3"]),
                policy: pick(["gold", "basic"]),
                count: Int.random(in: 1...3, using: &generator),
                api: pick(["fairplay", "ezdrm", "clearkey", "slot", "session"]),
                node: pick(["a", "b", "c"]))
        }
    }()

    @Test(arguments: RecordEngine.installed)
    func `every grouping, with and without filters, matches a count one by one`(_ engine: RecordEngine)
        async throws
    {
        try await engine.open(Self.many) { reporter in
            for grouping in RecordReport.Grouping.allCases {
                for filter in 0..<6 {
                    var report = RecordReport(of: "acme", times: Self.day + 5..<Self.day + 50 * Self.hour, by: grouping)
                    if filter == 5 { report.tenant = nil }
                    if filter == 1 { report.account = "tab\there" }
                    if filter == 2 { (report.content, report.code) = ("a/1", "blocked") }
                    if filter == 3 { report.event = .renewal }
                    if filter == 4 { (report.account, report.limit) = ("", 2) }
                    var count = ReportCount(report)
                    for row in Self.many { count.add(row) }
                    let answer = try await reporter.report(report)
                    let expected = count.answer(asOf: answer.asOf)
                    #expect(answer == expected, "\(grouping) \(filter)")
                }
            }
        }
    }

    @Test(arguments: RecordEngine.installed)
    func `a history is paged, each row once, newest first`(_ engine: RecordEngine) async throws {
        let rows = (1...40).map { number in
            LicenseRecordRow.sample(
                .license, Self.day + Int64(number / 7) * 20 * Self.hour, "ann",
                node: number.isMultiple(of: 2) ? "a" : "b", request: "r-\(number)")
        }
        try await engine.open(rows + [.sample(.license, Self.day, "bob")]) { reporter in
            var query = RecordQuery(times: Self.day..<Self.day + 200 * Self.hour, limit: 6)
            (query.tenant, query.account) = ("acme", "ann")
            var seen: [LicenseRecordRow] = []
            while true {
                let page = try await reporter.rows(query)
                seen += page
                guard page.count == query.limit, let last = page.last else { break }
                query.before = RecordCursor(last)
            }
            #expect(seen.count == 40 && Set(seen.map(\.requestID)).count == 40)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $1.isBefore(RecordCursor($0)) })
        }
    }

    @Test(arguments: RecordEngine.installed)
    func `a request is found by its identifier, for any tenant and node`(_ engine: RecordEngine)
        async throws
    {
        try await engine.open(Self.rows) { reporter in
            var query = RecordQuery(times: 0..<Self.day + 100 * Self.hour, limit: 10)
            query.requestID = "r-2"
            let rows = try await reporter.rows(query)
            #expect(rows.map(\.code) == ["sessionLimit"] && rows.first?.position.node == "b")
            #expect(rows.first?.account == "cyd")
            query.requestID = "r-3"
            #expect(try await reporter.rows(query).isEmpty)
        }
    }

    @Test(arguments: RecordEngine.installed)
    func `concurrent viewers are each interval's peak, and absent without a count`(_ engine: RecordEngine)
        async throws
    {
        let counts: [LicenseRecordRow] = [(0, 3), (30, 8), (59, 5), (70, 2), (60 * 30, 1)].map { minute, count in
            .sample(.viewers, Self.day + Int64(minute) * 60_000, "", count: count, node: "a")
        }
        let others: [LicenseRecordRow] = [
            .sample(.viewers, Self.day, "", tenant: "other", count: 99), .sample(.license, Self.day, "ann", count: 77),
        ]
        try await engine.open(counts + others) { reporter in
            let question = RecordViewers.Question(of: "acme", times: Self.day..<Self.day + 200 * Self.hour)
            #expect(question.bucket == Self.hour)
            let viewers = try await reporter.viewers(question)
            #expect(viewers.points.map(\.time) == [0, 1, 30].map { Self.day + $0 * Self.hour })
            #expect(viewers.points.map(\.most) == [8, 2, 1])
            let later = RecordViewers.Question(of: "acme", times: Self.day + 40 * Self.hour..<Self.day + 41 * Self.hour)
            #expect(try await reporter.viewers(later).points.isEmpty)
        }
    }

    @Test(arguments: RecordEngine.installed)
    func `it says how far it reaches and which nodes add rows`(_ engine: RecordEngine) async throws {
        try await engine.open(Self.rows) { reporter in
            let ours = try await reporter.standing(of: "acme")
            #expect(ours.oldest == Self.day + 1)
            #expect(ours.nodes.map(\.name) == ["a", "b"])
            // Of all tenants together no row is older; the day may be all that is known.
            let all = try await reporter.standing(of: nil)
            #expect(all.oldest.map { [Self.day, Self.day + 1].contains($0) } == true)
        }
        try await engine.open([]) { reporter in
            let none = try await reporter.standing(of: "acme")
            #expect(none.oldest == nil && none.nodes.isEmpty)
            #expect(try await reporter.standing(of: nil).oldest == nil)
            let answer = try await reporter.report(RecordReport(of: "acme", times: Self.days))
            #expect(answer.groups.isEmpty && answer.total == RecordFigures() && answer.groupCount == 0)
        }
    }
}

/// The engines that answer questions.
enum RecordEngine: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case files, postgresql

    var testDescription: String { rawValue }

    static let installed = allCases.filter { $0 != .postgresql || PostgreSQLProcess.programs != nil }

    /// Opens a new record with rows, which arrive as from nodes.
    func open(_ rows: [LicenseRecordRow], _ body: (any RecordReporter) async throws -> Void) async throws {
        switch self {
        case .files:
            let folder = try TemporaryFolder()
            let files = RecordFiles(folder: folder.path("record"), threads: FileThreads(limit: .seconds(120)))
            defer { files.close() }
            try await rows.ship(to: files)
            var limits = RecordFileReports.Limits()
            limits.time = .seconds(120)
            let reports = RecordFileReports(folder: folder.path("record"), limits: limits)
            defer { reports.close() }
            try await body(reports)
            withExtendedLifetime(folder) {}
        case .postgresql:
            let server = try await PostgreSQLProcess.shared.value
            let address = server.address(of: try await server.database())
            try await PostgreSQLStore.open(address, .patient, migrates: true).close()
            let record = try PostgreSQLRecord(address, limit: .seconds(120))
            defer { record.close() }
            try await rows.ship(to: record)
            let reports = try PostgreSQLRecordReports(address, reader: record, limit: .seconds(120))
            defer { reports.close() }
            try await body(reports)
        }
    }
}

extension [LicenseRecordRow] {
    /// Ships rows as their nodes do: each with its own spool, in order.
    func ship(to destination: any RecordDestination) async throws {
        for (node, rows) in Dictionary(grouping: self, by: \.position.node).sorted(by: { $0.key < $1.key }) {
            let spool = String(repeating: "0", count: 14) + "\(node)\(node)"
            let lines = rows.sorted { $0.time < $1.time }.enumerated().map { index, row in
                var row = row
                row.position = RecordPosition(node: node, spool: spool, sequence: UInt64(index + 1))
                return RecordBatch.Line(sequence: UInt64(index + 1), time: row.time, json: row.json)
            }
            for (_, lines) in Dictionary(grouping: lines, by: \.day).sorted(by: { $0.key < $1.key }) {
                let taken = try await destination.take(RecordBatch(node: node, spool: spool, lines: lines))
                #expect(taken == lines.last?.sequence)
            }
        }
    }
}

extension LicenseRecordRow {
    static func sample(
        _ event: Event, _ time: Int64, _ account: String, tenant: String = "acme", content: String = "",
        code: String = "", country: String = "DE", session: String = "", policy: String = "", count: Int = 1,
        api: String = "fairplay", node: String = "a", request: String = ""
    ) -> LicenseRecordRow {
        var row = LicenseRecordRow(event, time: time)
        (row.tenant, row.account, row.content, row.code) = (tenant, account, content, code)
        (row.country, row.session, row.policy, row.count) = (country, session, policy, count)
        (row.api, row.requestID, row.device) = (api, request, account.isEmpty ? "" : "d-\(account)")
        row.position.node = node
        return row
    }
}

extension RecordFigures {
    fileprivate var numbers: [Int?] { named.prefix(6).map(\.value) }
}

extension RecordReportAnswer.Group.Key {
    fileprivate var plain: String {
        switch self {
        case .time(let time): "\(time)"
        case .text(let text): text
        }
    }
}
