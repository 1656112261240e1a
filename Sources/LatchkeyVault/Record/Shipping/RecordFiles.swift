import Foundation
import LatchkeyCore
import LatchkeyForms
package import LatchkeySystem

/// The record as files: a folder for each day, in which each batch is a uniquely named file of JSON lines.
///
/// A file is written under another name, synced to the disk and then renamed, so that it exists whole or not at all. Its name has the spool
/// and the first and last sequence: the set of files is the position.
///
/// Source: `Documentation/Server/Record.md` §3.2.
package final class RecordFiles: RecordDestination, RecordReader {
    package static let name = "files"

    package let engine = RecordFiles.name
    package let interval = Duration.seconds(5)
    private let folder: String
    private let threads: FileThreads
    private let positions = Locked<[String: UInt64]>([:])
    private let clock: @Sendable (_ lock: Int32) throws(FileError) -> Int

    /// - Parameters:
    ///   - folder: the folder of the days' folders; several nodes may share it.
    ///   - threads: the threads that write files. Defaults to separate ones, with 30 s each.
    ///   - clock: changes an open file, and returns the day by its file system, in days since 1970. Defaults to the system's.
    package init(
        folder: String, threads: FileThreads = FileThreads(limit: .seconds(30)),
        clock: @escaping @Sendable (_ lock: Int32) throws(FileError) -> Int = RecordFiles.day
    ) {
        (self.folder, self.threads, self.clock) = (folder, threads, clock)
    }

    package func close() { threads.end() }

    package func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64 {
        guard let day = batch.lines.first?.day else { return 0 }
        let known = positions.withLock { $0[batch.spool] }
        do {
            let position = try await threads.run(folder) { [folder] in
                let position = try known ?? Self.position(of: batch.spool, in: folder)
                let lines = batch.lines(after: position)
                guard let last = lines.last?.sequence else { return position }
                try Self.write(
                    lines, named: Self.fileName(batch, lines), in: "\(folder)/\(Self.text(day))", below: folder)
                return last
            }
            positions.withLock { $0[batch.spool] = position }
            return position
        } catch {
            // A write that was begun may still complete: the files decide.
            positions.withLock { $0[batch.spool] = nil }
            throw Self.error(error)
        }
    }

    package func keepDays(today: Int, days: Int?) async throws(StoreError) -> Int {
        guard let days else { return 0 }
        do {
            return try await threads.run(folder) { [folder, clock] in
                guard try Self.exists(folder) else { return 0 }
                // One node at a time.
                let lock = try SpoolFile(creating: "\(folder)/lock")
                guard lock.hold() else { return 0 }
                defer { withExtendedLifetime(lock) {} }
                // A node whose clock is ahead drops nothing that another would keep.
                let today = min(today, try clock(lock.descriptor))
                let gone = try Self.days(in: folder).filter { $0 <= today - days }
                for day in gone { try FileManager.default.removeItem(atPath: "\(folder)/\(Self.text(day))") }
                return gone.count
            }
        } catch {
            throw Self.error(error)
        }
    }

    package func findings() async -> [StoreError] {
        do {
            return try await threads.run(folder) { [folder] in
                let place = try Self.exists(folder) ? folder : (folder as NSString).deletingLastPathComponent
                guard access(place.isEmpty ? "." : place, W_OK | X_OK) == 0 else { throw FileError.cannotWrite(place) }
                return []
            }
        } catch {
            return [Self.error(error)]
        }
    }

    package func rows(_ query: RecordQuery) async throws(StoreError) -> [LicenseRecordRow] {
        let reports = RecordFileReports(folder: folder)
        defer { reports.close() }
        return try await reports.rows(query)
    }
}

extension RecordFiles {
    /// Changes an open file, and returns the day by its file system's clock; for a shared folder that is the file server's.
    package static func day(_ descriptor: Int32) throws(FileError) -> Int {
        var facts = stat()
        guard futimens(descriptor, nil) == 0, fstat(descriptor, &facts) == 0 else { throw .cannotWrite("lock") }
        #if canImport(Darwin)
            return facts.st_mtimespec.tv_sec / 86_400
        #else
            return facts.st_mtim.tv_sec / 86_400
        #endif
    }

    /// Days since 1970 as `2026-11-27`.
    static func text(_ day: Int) -> String {
        String(DateText.text(Date(timeIntervalSince1970: Double(day) * 86_400)).prefix(10))
    }

    private static func fileName(_ batch: RecordBatch, _ lines: ArraySlice<RecordBatch.Line>) -> String {
        let node = String(batch.node.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
        return "\(node)-\(batch.spool)-\(lines.first?.sequence ?? 0)-\(lines.last?.sequence ?? 0).jsonl"
    }

    /// The position, from the files' names.
    private static func position(of spool: String, in folder: String) throws -> UInt64 {
        guard try exists(folder) else { return 0 }
        var position: UInt64 = 0
        for day in try days(in: folder) {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(text(day))") {
                let parts = name.split(separator: "-").suffix(3)
                guard name.hasSuffix(".jsonl"), !name.hasPrefix("."), parts.count == 3,
                    parts.first.map(String.init) == spool,
                    let last = parts.last?.split(separator: ".").first.flatMap({ UInt64($0) })
                else { continue }
                position = max(position, last)
            }
        }
        return position
    }

    private static func exists(_ path: String) throws -> Bool {
        FileThreads.visits(path)
        var facts = stat()
        if stat(path, &facts) == 0 { return true }
        guard errno == ENOENT else { throw FileError.cannotRead(path, because: String(cString: strerror(errno))) }
        return false
    }

    private static func days(in folder: String) throws -> [Int] {
        try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
            guard name.utf8.count == 10, let date = DateText.date("\(name)T00:00:00Z") else { return nil }
            return Int(date.timeIntervalSince1970 / 86_400)
        }
    }

    private static func write(
        _ lines: ArraySlice<RecordBatch.Line>, named name: String, in day: String, below folder: String
    ) throws {
        FileThreads.visits(day)
        for path in [folder, day] {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError.cannotWrite(path) }
        }
        let aside = "\(day)/.\(name)"
        unlink(aside)
        let file = try SpoolFile(creating: aside)
        let bytes = lines.flatMap { $0.json + [SpoolFrame.newline] }
        guard SpoolDisk.writeAll(file.descriptor, bytes) == 0, fsync(file.descriptor) == 0 else {
            throw FileError.cannotWrite(aside)
        }
        guard rename(aside, "\(day)/\(name)") == 0 else { throw FileError.cannotWrite("\(day)/\(name)") }
        for path in [day, folder] {
            let code = SpoolDisk.syncNames(path)
            guard code == 0 else { throw FileError.cannotWrite(path, because: String(cString: strerror(code))) }
        }
    }

    private static func error(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        let known = error as? FileError
        return StoreError(
            .unavailable, Self.name, reason: known?.reason ?? "The record's folder: \(type(of: error)).",
            remedy: known?.remedy ?? "Check the folder and its permissions.")
    }
}

extension RecordQuery {
    /// Whether the query asks for a row.
    package func wants(_ row: LicenseRecordRow) -> Bool {
        let pairs = [
            (tenant, row.tenant), (account, row.account), (device, row.device), (content, row.content),
            (country, row.country), (code, row.code), (requestID, row.requestID), (session, row.session),
        ]
        return times.contains(row.time) && (events.isEmpty || events.contains(row.event))
            && pairs.allSatisfy { wanted, value in wanted.map { $0.equalsByteForByte(value) } ?? true }
            && before.map { row.isBefore($0) } ?? true
    }
}

extension LicenseRecordRow {
    /// Whether it comes before a place in the order of time, node, spool and sequence.
    package func isBefore(_ cursor: RecordCursor) -> Bool {
        (time, position.node, position.spool, position.sequence)
            < (cursor.time, cursor.position.node, cursor.position.spool, cursor.position.sequence)
    }
}
