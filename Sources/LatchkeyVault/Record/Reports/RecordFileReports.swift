import Foundation
package import LatchkeyCore
import LatchkeyForms
package import LatchkeySystem

/// Answers questions from the record's files, which it reads one after the other, on its own threads that yield to all others.
///
/// A question that would take too long is refused, not answered in part.
///
/// Source: `Documentation/Server/Reports.md` §5.
package final class RecordFileReports: RecordReporter {
    /// The limits of one question.
    package struct Limits: Sendable {
        /// The most bytes of files that it reads. Defaults to 4 GiB.
        package var bytes = 4 << 30
        /// How long it may read. Defaults to 40 s.
        package var time = Duration.seconds(40)
        /// The most groups that it holds, and different accounts, devices and sessions, of all rows and of each group. Defaults to 2,000,000,
        /// some 300 MB.
        package var held = 2_000_000
        /// How many of the newest days are searched for nodes. Defaults to 7.
        package var nodeDays = 7

        package init() {}
    }

    package let engine = RecordFiles.name
    private let folder: String
    private let limits: Limits
    private let threads: FileThreads
    private let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - folder: the folder of the days' folders.
    ///   - limits: the limits of one question.
    ///   - timekeeper: the clock. Defaults to the machine's.
    package init(folder: String, limits: Limits = Limits(), timekeeper: any Timekeeper = SystemTimekeeper()) {
        (self.folder, self.limits, self.timekeeper) = (folder, limits, timekeeper)
        threads = FileThreads(limit: limits.time + .seconds(5), most: 4, timekeeper: timekeeper)
    }

    package func close() { threads.end() }

    package func rows(_ query: RecordQuery) async throws(StoreError) -> [LicenseRecordRow] {
        try await page(query).rows
    }

    package func page(
        _ query: RecordQuery
    ) async throws(StoreError) -> (rows: [LicenseRecordRow], unread: UnreadLines) {
        let needles = [query.requestID, query.account, query.session, query.device].compactMap(\.self).map {
            Array(JSONValue.quoted($0).utf8)
        }
        return try await scan(query.times) { scan, days in
            var found: [LicenseRecordRow] = []
            for day in days.reversed() {
                try scan.rows(of: day, with: needles) { row in
                    guard query.wants(row) else { return }
                    found.append(row)
                    if found.count >= 2 * max(query.limit, 500) { found.keepNewest(query.limit) }
                }
                found.keepNewest(query.limit)
                // A request's rows are all of one day: older rows have the same identifier by chance.
                guard found.count < query.limit, query.requestID == nil || found.isEmpty else { break }
            }
            return (found, scan.unread)
        }
    }

    package func report(_ report: RecordReport) async throws(StoreError) -> RecordReportAnswer {
        let now = RecordRange.milliseconds(timekeeper.date)
        return try await scan(report.times) { [limits] scan, days in
            var count = ReportCount(report)
            for day in days {
                try scan.rows(of: day) { row in
                    count.add(row)
                    guard count.held <= limits.held else {
                        throw Self.tooMuch("has too many groups, accounts, devices and sessions")
                    }
                }
            }
            var answer = count.answer(asOf: now)
            answer.unread = scan.unread
            return answer
        }
    }

    package func viewers(_ question: RecordViewers.Question) async throws(StoreError) -> RecordViewers {
        let now = RecordRange.milliseconds(timekeeper.date)
        return try await scan(question.times) { scan, days in
            var count = ViewerCount(question)
            let needles = [Array("\"event\":\"viewers\"".utf8)]
            for day in days { try scan.rows(of: day, with: needles) { count.add($0) } }
            var answer = count.answer(asOf: now)
            answer.unread = scan.unread
            return answer
        }
    }

    package func standing(of tenant: String?) async throws(StoreError) -> RecordStanding {
        let now = RecordRange.milliseconds(timekeeper.date)
        return try await scan(.min..<(.max)) { [limits] scan, days in
            let oldest = try days.first.map { try scan.ends(of: $0, first: true) } ?? []
            var newest: [String: Int64] = [:]
            for day in days.suffix(limits.nodeDays) {
                for row in try scan.ends(of: day, first: false) {
                    newest[row.position.node] = max(newest[row.position.node] ?? .min, row.time)
                }
            }
            return RecordStanding(
                oldest: oldest.map(\.time).min(), nodes: newest.map { RecordStanding.Node($0.key, newest: $0.value) },
                asOf: now)
        }
    }

    /// Reads on a separate thread.
    private func scan<Answer: Sendable>(
        _ times: Range<Int64>, _ work: @escaping @Sendable (inout FileScan, [String]) throws -> Answer
    ) async throws(StoreError) -> Answer {
        let (folder, limits, timekeeper) = (folder, limits, timekeeper)
        do {
            return try await threads.run(folder) {
                #if os(Linux)
                    // On Linux, 0 means the calling thread; it ends with the question.
                    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
                #endif
                var scan = FileScan(
                    folder: folder, left: limits.bytes, end: timekeeper.uptime + limits.time, timekeeper: timekeeper)
                return try work(&scan, scan.days(times))
            }
        } catch let error as StoreError {
            throw error
        } catch {
            let known = error as? any DiagnosableError
            throw StoreError(
                .unavailable, RecordFiles.name, reason: known?.reason ?? "The record's folder: \(type(of: error)).",
                remedy: known?.remedy ?? "Check the folder and its permissions.")
        }
    }

    fileprivate static func tooMuch(_ what: String) -> StoreError {
        StoreError(
            .unfit, RecordFiles.name, reason: "The range \(what): files cannot be counted partially.",
            remedy: "Ask for a shorter range, or use PostgreSQL as the record's destination.")
    }
}

/// One reading of files, within its limits.
private struct FileScan {
    let folder: String
    var unread = UnreadLines()
    /// How many bytes it may still read.
    var left: Int
    /// By the uptime clock.
    let end: Duration
    let timekeeper: any Timekeeper

    /// The names of the days' folders in a range, the oldest first. Empty if there is no folder yet.
    func days(_ times: Range<Int64>) throws -> [String] {
        FileThreads.visits(folder)
        guard access(folder, F_OK) == 0 || errno != ENOENT else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
            guard name.utf8.count == 10, let date = DateText.date("\(name)T00:00:00Z") else { return false }
            let begin = RecordRange.milliseconds(date)
            return begin < times.upperBound && begin + 86_400_000 > times.lowerBound
        }.sorted()
    }

    /// The complete files of a day.
    private func files(of day: String) throws -> [String] {
        FileThreads.visits("\(folder)/\(day)")
        return try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(day)").filter {
            $0.hasSuffix(".jsonl") && !$0.hasPrefix(".")
        }.sorted()
    }

    /// Passes on each row of a day.
    /// - Parameter needles: bytes that each wanted row contains, so that the others need not be parsed as JSON.
    mutating func rows(
        of day: String, with needles: [[UInt8]] = [], _ take: (LicenseRecordRow) throws -> Void
    ) throws {
        for name in try files(of: day) {
            let path = "\(folder)/\(day)/\(name)"
            let bytes = try read(path)
            guard needles.allSatisfy({ bytes.contains($0) }) else { continue }
            for line in bytes.split(separator: UInt8(ascii: "\n")) where needles.allSatisfy({ line.contains($0) }) {
                if let row = unread.row(line, of: path) { try take(row) }
            }
        }
    }

    /// The first or the last row of each spool in a day.
    mutating func ends(of day: String, first isFirst: Bool) throws -> [LicenseRecordRow] {
        // NODE-SPOOL-FIRST-LAST.jsonl
        var ends: [String: (sequence: UInt64, name: String)] = [:]
        for name in try files(of: day) {
            let parts = name.dropLast(6).split(separator: "-").suffix(3).map(String.init)
            guard parts.count == 3, let sequence = UInt64(parts[isFirst ? 1 : 2]) else { continue }
            let known = ends[parts[0]]?.sequence
            guard known.map({ isFirst ? sequence < $0 : sequence > $0 }) ?? true else { continue }
            ends[parts[0]] = (sequence, name)
        }
        return try ends.values.compactMap { end in
            let path = "\(folder)/\(day)/\(end.name)"
            let lines = try read(path).split(separator: UInt8(ascii: "\n"))
            return (isFirst ? lines : lines.reversed()).lazy.compactMap { try? LicenseRecordRow(json: $0) }.first
        }
    }

    private mutating func read(_ path: String) throws -> ArraySlice<UInt8> {
        guard timekeeper.uptime < end else { throw RecordFileReports.tooMuch("takes too long to read") }
        let data = try PlainFile.read(path, limit: 64 << 20)
        left -= data.count
        guard left >= 0 else { throw RecordFileReports.tooMuch("has more bytes in files than one query may read") }
        return Array(data)[...]
    }
}

extension ArraySlice<UInt8> {
    /// Whether it contains other bytes.
    func contains(_ needle: [UInt8]) -> Bool {
        guard let first = needle.first else { return true }
        return withUnsafeBytes { bytes in
            var start = bytes.baseAddress
            var left = bytes.count - needle.count + 1
            while left > 0, let from = start, let found = memchr(from, Int32(first), left) {
                if memcmp(found, needle, needle.count) == 0 { return true }
                let next = UnsafeRawPointer(found) + 1
                left -= from.distance(to: next)
                start = next
            }
            return false
        }
    }
}

extension [LicenseRecordRow] {
    /// Keeps only the newest rows, in their order.
    fileprivate mutating func keepNewest(_ count: Int) {
        sort { $1.isBefore(RecordCursor($0)) }
        removeLast(Swift.max(0, self.count - count))
    }
}
