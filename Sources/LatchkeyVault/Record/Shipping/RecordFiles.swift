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
    private let digest: RecordErasure.Digest

    /// - Parameters:
    ///   - folder: the folder of the days' folders; several nodes may share it.
    ///   - digest: finds erased accounts in rows. Defaults to none.
    ///   - threads: the threads that write files. Defaults to separate ones, with 30 s each.
    ///   - clock: changes an open file, and returns the day by its file system, in days since 1970. Defaults to the system's.
    package init(
        folder: String, digest: @escaping RecordErasure.Digest = { _, _ in nil },
        threads: FileThreads = FileThreads(limit: .seconds(30)),
        clock: @escaping @Sendable (_ lock: Int32) throws(FileError) -> Int = RecordFiles.day
    ) {
        (self.folder, self.digest, self.threads, self.clock) = (folder, digest, threads, clock)
    }

    package func close() { threads.end() }

    package func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64 {
        guard let day = batch.lines.first?.day else { return 0 }
        let known = positions.withLock { $0[batch.spool] }
        do {
            let position = try await threads.run(folder) { [folder, digest, clock] in
                let position = try known ?? Self.position(of: batch.spool, in: folder)
                let lines = batch.lines(after: position)
                guard let last = lines.last?.sequence else { return position }
                // No erasure begins before the file is there.
                let erasures = try ErasureFile(in: folder, LOCK_SH, clock)
                defer { withExtendedLifetime(erasures) {} }
                try Self.write(
                    erasures.erased(lines, digest), named: Self.fileName(batch, lines),
                    in: "\(folder)/\(Self.text(day))", below: folder)
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

    package func erase(_ erasure: RecordErasure) async throws(StoreError) -> Int {
        do {
            // Held until all files are changed: no node adds a file, and no other erasure changes one.
            let erasures = try await threads.run(folder) { [folder, clock] in
                let erasures = try ErasureFile(in: folder, LOCK_EX, clock)
                try erasures.add(erasure)
                return erasures
            }
            defer { withExtendedLifetime(erasures) {} }
            return try await lines(of: erasure) { lines, name, day in try Self.put(lines.bytes, named: name, in: day) }
        } catch {
            throw Self.error(error)
        }
    }

    package func count(_ erasure: RecordErasure) async throws(StoreError) -> Int {
        do { return try await lines(of: erasure) { _, _, _ in } } catch { throw Self.error(error) }
    }

    /// Visits the files with rows of an account, day by day.
    /// - Returns: how many rows there were.
    /// - Throws: `storeDamaged` after the visit, if there were unreadable lines with the account's name.
    private func lines(
        of erasure: RecordErasure,
        _ visit: @escaping @Sendable (ErasedLines, _ name: String, _ day: String) throws -> Void
    ) async throws -> Int {
        let days = try await threads.run(folder) { [folder] in try Self.exists(folder) ? Self.days(in: folder) : [] }
        var (count, unread) = (0, 0)
        for day in days.sorted().map({ "\(folder)/\(Self.text($0))" }) {
            let found = try await threads.run(day) { () -> (count: Int, unread: Int) in
                var found = (count: 0, unread: 0)
                // Another node may have dropped the day.
                guard try Self.exists(day) else { return found }
                for name in try FileManager.default.contentsOfDirectory(atPath: day).sorted()
                where name.hasSuffix(".jsonl") && !name.hasPrefix(".") {
                    let bytes = Array(try PlainFile.read("\(day)/\(name)", limit: 64 << 20))
                    guard let lines = ErasedLines(bytes[...], erasure) else { continue }
                    if lines.count > 0 { try visit(lines, name, day) }
                    found = (found.count + lines.count, found.unread + lines.unread)
                }
                return found
            }
            (count, unread) = (count + found.count, unread + found.unread)
        }
        guard unread > 0 else { return count }
        throw StoreError(
            .damaged, engine,
            reason: "\(unread.counted("line")) of the record's files may name the account, and cannot be read.",
            remedy: "Use a server of the version that wrote them, or remove the lines.")
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
        guard mkdir(day, 0o700) == 0 || errno == EEXIST else { throw FileError.cannotWrite(day) }
        try put(lines.flatMap { $0.json + [SpoolFrame.newline] }, named: name, in: day)
        let code = SpoolDisk.syncNames(folder)
        guard code == 0 else { throw FileError.cannotWrite(folder, because: String(cString: strerror(code))) }
    }

    /// Writes a whole file, or replaces it.
    static func put(_ bytes: [UInt8], named name: String, in day: String) throws {
        let aside = "\(day)/.\(name)"
        unlink(aside)
        let file = try SpoolFile(creating: aside)
        guard SpoolDisk.writeAll(file.descriptor, bytes) == 0, fsync(file.descriptor) == 0 else {
            throw FileError.cannotWrite(aside)
        }
        guard rename(aside, "\(day)/\(name)") == 0 else { throw FileError.cannotWrite("\(day)/\(name)") }
        let code = SpoolDisk.syncNames(day)
        guard code == 0 else { throw FileError.cannotWrite(day, because: String(cString: strerror(code))) }
    }

    private static func error(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        let known = error as? FileError
        return StoreError(
            .unavailable, Self.name, reason: known?.reason ?? "The record's folder: \(type(of: error)).",
            remedy: known?.remedy ?? "Check the folder and its permissions.")
    }
}

/// The file of a folder's erasures, open and locked: nodes that add rows share the lock, and an erasure has it alone.
private final class ErasureFile: Sendable {
    private let file: SpoolFile
    private let path: String
    private let oldest: Int64

    /// Blocks until the file is locked.
    init(
        in folder: String, _ operation: Int32, _ clock: (_ file: Int32) throws(FileError) -> Int
    ) throws(FileError) {
        path = "\(folder)/erasures"
        FileThreads.visits(folder)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .cannotWrite(folder) }
        let file = try SpoolFile(creating: path)
        while flock(file.descriptor, operation) != 0 { guard errno == EINTR else { throw .cannotWrite(path) } }
        oldest = Int64(try clock(file.descriptor) - RecordErasures.days) * 86_400_000
        self.file = file
    }

    private func erasures() throws -> RecordErasures {
        RecordErasures(lines: String(decoding: try PlainFile.read(path, limit: 64 << 20), as: UTF8.self), since: oldest)
    }

    func add(_ erasure: RecordErasure) throws {
        // Old ones go once all are old: only whole lines are ever added, so that a crash loses none.
        if try erasures().isEmpty { ftruncate(file.descriptor, 0) }
        let lines = "\n" + erasure.digests.map { RecordErasures.line($0, erasure) }.joined()
        guard SpoolDisk.writeAll(file.descriptor, Array(lines.utf8)) == 0, fsync(file.descriptor) == 0 else {
            throw FileError.cannotWrite(path)
        }
    }

    /// The lines without erased accounts. Lines that are not rows stay.
    func erased(
        _ lines: ArraySlice<RecordBatch.Line>, _ digest: RecordErasure.Digest
    ) throws -> ArraySlice<RecordBatch.Line> {
        let erasures = try erasures()
        guard !erasures.isEmpty else { return lines }
        return lines.map { line in
            guard let row = try? LicenseRecordRow(json: line.json), let erased = erasures.erased(row, digest) else {
                return line
            }
            return RecordBatch.Line(sequence: line.sequence, time: line.time, json: erased.json)
        }[...]
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
