import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

/// Questions beyond the limits of reading files.
@Suite(.timeLimit(.minutes(2))) struct RecordFileReportsTests {
    private static let day: Int64 = 1_795_564_800_000

    private func folder() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let files = RecordFiles(folder: folder.path("record"))
        try await (0..<50).map {
            LicenseRecordRow.sample(.license, Self.day + Int64($0) * 3_600_000, "account-\($0)", request: "r-\($0)")
        }.ship(to: files)
        files.close()
        return folder
    }

    private func reports(
        _ folder: TemporaryFolder, _ change: (inout RecordFileReports.Limits) -> Void = { _ in }
    ) -> RecordFileReports {
        var limits = RecordFileReports.Limits()
        change(&limits)
        return RecordFileReports(
            folder: folder.path("record"), limits: limits, timekeeper: ManualTimekeeper(date: Date()))
    }

    private static let report = RecordReport(of: "acme", times: day..<day + 72 * 3_600_000, by: .account)

    @Test func `a range beyond a query's read limit is refused, not counted in part`() async throws {
        let folder = try await folder()
        for change in [
            { $0.bytes = 2_000 }, { $0.held = 20 }, { $0.time = .zero },
        ] as [@Sendable (inout RecordFileReports.Limits) -> Void] {
            let reports = reports(folder, change)
            defer { reports.close() }
            await #expect {
                _ = try await reports.report(Self.report)
            } throws: { error in
                let error = error as? StoreError
                return error?.kind == .unfit && error?.remedy.contains("shorter range") == true
            }
        }
        let enough = reports(folder)
        defer { enough.close() }
        #expect(try await enough.report(Self.report).total.licenses == 50)
    }

    @Test(arguments: [RecordReport.Grouping.day, .account])
    func `a day with too many names is refused before it is read to its end`(
        _ grouping: RecordReport.Grouping
    ) async throws {
        let folder = try TemporaryFolder()
        let files = RecordFiles(folder: folder.path("record"))
        try await (0..<1_000).map {
            LicenseRecordRow.sample(.license, Self.day + Int64($0), "account-\($0)", request: "r-\($0)")
        }.ship(to: files)
        files.close()
        // A reader that reaches the end of the day finds a file that cannot be read.
        try FileManager.default.createDirectory(
            atPath: folder.path("record/2026-11-25/~.jsonl"), withIntermediateDirectories: false)
        let reports = reports(folder) { $0.held = 10 }
        defer { reports.close() }
        let report = RecordReport(of: "acme", times: Self.day..<Self.day + 86_400_000, by: grouping)
        let error = await #expect(throws: StoreError.self) { _ = try await reports.report(report) }
        #expect(error?.kind == .unfit)
    }

    @Test func `the names of each group are held too`() {
        var count = ReportCount(RecordReport(of: "acme", times: 0..<(.max), by: .content))
        for number in 0..<12 {
            var row = LicenseRecordRow.sample(.license, Self.day, "account-\(number % 2)", request: "r")
            (row.content, row.device, row.session) = ("film-\(number % 3)", "", "")
            count.add(row)
        }
        // Three groups with two accounts each, and two accounts of all.
        #expect(count.held == 3 + 6 + 2)
    }

    @Test func `a partial file is skipped, and an unreadable one is reported by name`() async throws {
        let folder = try await folder()
        let day = folder.path("record/2026-11-25")
        try Data("{".utf8).write(to: URL(filePath: "\(day)/.a-61-90-99.jsonl"))
        let reports = reports(folder)
        defer { reports.close() }
        #expect(try await reports.report(Self.report).total.licenses == 50)
        try FileManager.default.createDirectory(atPath: "\(day)/odd.jsonl", withIntermediateDirectories: false)
        await #expect {
            _ = try await reports.report(Self.report)
        } throws: { error in
            (error as? StoreError)?.kind == .unavailable && (error as? StoreError)?.reason.contains("odd.jsonl") == true
        }
    }

    @Test(arguments: [
        #"{"v":2,"node":"a","spool":"0011223344556677","seq":1,"time":1795564800000,"event":"replay","tenant":"acme"}"#,
        #"{"v":1,"node":"a","spool":"0011223344556677","seq":1,"time":1e40,"event":"license","tenant":"acme"}"#,
        "no row", "{",
    ])
    func `a line this version cannot read is omitted from each answer and counted`(_ line: String) async throws {
        let folder = try await folder()
        let name = "record/2026-11-25/node-ffffffffffffffff-1-2.jsonl"
        try Data((line + "\n" + line + "\n").utf8).write(to: URL(filePath: folder.path(name)))
        let reports = reports(folder)
        defer { reports.close() }
        let answer = try await reports.report(Self.report)
        #expect(answer.total.licenses == 50)
        let page = try await reports.page(RecordQuery(times: Self.report.times))
        #expect(page.rows.count == 50)
        for unread in [answer.unread, page.unread] {
            #expect(unread.count == 2 && unread.first.contains(name), "\(unread)")
            let notes = ReportNotes(
                on: Self.report.times, try await reports.standing(of: nil), unshipped: nil, unread: unread)
            #expect(notes.sentences.contains { $0.hasPrefix("2 lines of the record's files cannot be read") })
        }
        _ = try await reports.viewers(RecordViewers.Question(of: "acme", times: Self.report.times))
        #expect(try await reports.standing(of: nil).oldest == Self.day)
    }

    @Test func `a missing folder is a record without rows`() async throws {
        let folder = try TemporaryFolder()
        let reports = reports(folder)
        defer { reports.close() }
        #expect(try await reports.report(Self.report).groupCount == 0)
        #expect(try await reports.standing(of: nil).oldest == nil)
    }
}
