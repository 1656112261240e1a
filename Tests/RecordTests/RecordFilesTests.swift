import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(1))) struct RecordFilesTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("record") }

    init() throws { folder = try TemporaryFolder() }

    private func batch(_ numbers: ClosedRange<Int>, spool: String = "00112233aabbccdd", day: Int64 = 0) -> RecordBatch {
        RecordBatch(
            node: "n-1/x", spool: spool,
            lines: numbers.map { number in
                var row = LicenseRecordRow.sample(
                    number, time: LicenseRecordRow.noon + day * 86_400_000 + Int64(number))
                row.position = RecordPosition(node: "n-1/x", spool: spool, sequence: UInt64(number))
                return RecordBatch.Line(sequence: UInt64(number), time: row.time, json: row.json)
            })
    }

    private func requests(_ query: RecordQuery = RecordQuery(times: 0..<(.max))) async throws -> [String] {
        try await RecordFiles(folder: path).rows(query).map(\.requestID)
    }

    @Test func `a repeated batch, split differently or after a restart, is stored once`() async throws {
        let files = RecordFiles(folder: path)
        #expect(try await files.take(batch(1...3)) == 3)
        #expect(try await files.take(batch(1...3)) == 3)
        let later = RecordFiles(folder: path)
        #expect(try await later.take(batch(2...5)) == 5)
        #expect(try await RecordFiles(folder: path).take(batch(1...4)) == 5)
        #expect(try await later.take(batch(1...1, spool: "ffffffffffffffff")) == 1)
        #expect(try await requests() == ["r5", "r4", "r3", "r2", "r1", "r1"])
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)/2026-11-27").sorted()
        #expect(
            names == [
                "n-1-x-00112233aabbccdd-1-3.jsonl", "n-1-x-00112233aabbccdd-4-5.jsonl",
                "n-1-x-ffffffffffffffff-1-1.jsonl",
            ])
    }

    @Test func `a crash's partial file is ignored`() async throws {
        let files = RecordFiles(folder: path)
        _ = try await files.take(batch(1...1))
        try Data("{".utf8).write(to: URL(filePath: "\(path)/2026-11-27/.n-1-x-00112233aabbccdd-2-2.jsonl"))
        #expect(try await requests() == ["r1"])
        #expect(try await RecordFiles(folder: path).take(batch(2...2)) == 2)
        #expect(try await requests() == ["r2", "r1"])
    }

    @Test func `only days beyond the limit are dropped, and other folders stay`() async throws {
        let today = Int(LicenseRecordRow.noon / 86_400_000) + 3
        let files = RecordFiles(folder: path, clock: { _ in today })
        for day in 0..<4 { _ = try await files.take(batch(1...1, spool: "000000000000000\(day)", day: Int64(day))) }
        try FileManager.default.createDirectory(atPath: "\(path)/mine", withIntermediateDirectories: false)
        #expect(try await files.keepDays(today: today, days: nil) == 0)
        #expect(try await files.keepDays(today: today, days: 2) == 2)
        let left = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        #expect(left == ["2026-11-29", "2026-11-30", "erasures", "lock", "mine"])
        #expect(try await files.keepDays(today: today, days: 2) == 0)
    }

    @Test func `a node whose clock is ahead of the file system's drops nothing that the others keep`() async throws {
        let today = Int(LicenseRecordRow.noon / 86_400_000) + 3
        let files = RecordFiles(folder: path, clock: { _ in today })
        for day in 0..<4 { _ = try await files.take(batch(1...1, spool: "000000000000000\(day)", day: Int64(day))) }
        #expect(try await files.keepDays(today: today + 399, days: 400) == 0)
        #expect(try await requests().count == 4)
        // A node whose clock is behind keeps more.
        #expect(try await files.keepDays(today: today - 1, days: 2) == 1)
    }

    @Test func `the file system's day is that of a just changed file`() throws {
        let file = try SpoolFile(creating: folder.path("lock"))
        var old = [timespec(), timespec()]
        #expect(futimens(file.descriptor, &old) == 0)
        let written = try SpoolFile(creating: folder.path("other"))
        #expect(try RecordFiles.day(file.descriptor) >= RecordFiles.day(written.descriptor))
    }

    @Test func `pages follow each other without a gap`() async throws {
        let files = RecordFiles(folder: path)
        _ = try await files.take(batch(1...5))
        var query = RecordQuery(times: 0..<(.max), limit: 2)
        var all: [String] = []
        while true {
            let page = try await files.rows(query)
            guard let last = page.last else { break }
            all += page.map(\.requestID)
            query.before = RecordCursor(last)
        }
        #expect(all == ["r5", "r4", "r3", "r2", "r1"])
    }

    @Test func `a folder that cannot be written is detected, and fails a batch`() async throws {
        try Data().write(to: URL(filePath: path))
        await #expect(throws: StoreError.self) { try await RecordFiles(folder: path).take(batch(1...1)) }
        #expect(await RecordFiles(folder: "\(path)/below").findings().count == 1)
        #expect(await RecordFiles(folder: folder.path("fine")).findings().isEmpty)
    }
}
