package import Foundation
import LatchkeyCore
package import LatchkeySystem

/// The rows of a node until they are shipped: files in a folder, to which rows are only appended.
///
/// Many requests share one write, and whoever waits for a row waits for that write alone. Each process is a spool with its own name, and
/// counts its rows from 1; the rows that an earlier process left are read first.
///
/// Source: `Documentation/Server/Record.md` §2.
package final class RecordSpool: Sendable {
    /// When a row counts as kept. The raw values are stable.
    package enum Sync: String, Sendable, Hashable, CaseIterable {
        /// The disk has it.
        case always
        /// The system has it, and the disk within 100 ms.
        case written
    }

    /// Why a row was lost. The raw values are stable.
    package enum Loss: String, Sendable, Hashable, CaseIterable {
        /// The spool has reached its limit of bytes.
        case full
        /// The disk rejects it.
        case failed
        /// The disk hangs, and there is no more room in memory.
        case stuck
        /// The process ends.
        case closed
    }

    /// The outcome of adding a row.
    package enum Outcome: Sendable, Hashable {
        case kept
        /// The disk hangs: the row is written when the disk recovers.
        case late
        case lost(Loss)
    }

    /// An event to report.
    package enum Event: Sendable, Hashable {
        case kept(Int)
        case lost(Loss, Int, reason: String)
        /// The disk took longer than the patience.
        case hangs
        /// The disk reports that it may have lost written rows; it is unknown which.
        case unsynced(reason: String)
        /// Bytes of a file that are damaged or missing, with the number of rows that they held; at the end, a crash tore the last
        /// one.
        case damaged(file: String, bytes: Int, rows: Int, isEnd: Bool)
    }

    package struct Settings: Sendable {
        /// The most bytes on the disk. Defaults to 1 GiB.
        package var bytes = 1 << 30
        package var sync = Sync.written
        /// How long a row may wait for the disk. Defaults to 1 s.
        package var patience = Duration.seconds(1)
        /// The most bytes in memory while the disk hangs. Defaults to 16 MiB.
        package var memory = 16 << 20
        package var disk = SpoolDisk()

        package init() {}

        /// Shipped rows are removed a file at a time, so files are small: an eighth of the limit at most.
        var segmentBytes: Int { max(4_096, min(8 << 20, bytes / 8)) }
    }

    /// The amount of unshipped rows.
    package struct Standing: Sendable, Hashable {
        /// Rows that are not acknowledged.
        package var rows = 0
        /// Bytes of the files.
        package var bytes = 0
        /// When the oldest unacknowledged row was made, in milliseconds since 1970; `nil` without one.
        package var oldest: Int64?
        /// Whether rows would be lost now.
        package var isFull = false
    }

    struct Waiting {
        let json: [UInt8]
        let time: Int64
        let promise: Promise<Outcome, Never>?
    }

    struct State {
        var waiting: [Waiting] = []
        var waitingBytes = 0
        /// Whether the queue writes, or is about to.
        var isWriting = false
        /// When the current write began, and who waits for it.
        var began: ContinuousClock.Instant?
        var underWay: [Promise<Outcome, Never>] = []
        var isStuck = false
        var isWatched = false
        var isDirty = false
        var isClosed = false
        /// Whether the last write lost rows, and no room was made since.
        var lastWasLost = false
        var sequence: UInt64 = 0
        /// The oldest first; the last is being written, if a file is open.
        var segments: [SpoolSegment] = []
        var file: SpoolFile?
        var standing = Standing()
    }

    package let node: String
    /// This process's spool.
    package let name: String
    package let settings: Settings
    let folder: String
    let start: Int64
    let report: @Sendable (Event) -> Void
    private let lock: SpoolFile
    let state = Locked(State())
    let queue = DispatchQueue(label: "latchkey.record", qos: .userInitiated)
    let syncing = DispatchQueue(label: "latchkey.record.sync")
    let watching = DispatchQueue(label: "latchkey.record.watch")

    /// Opens a folder, and creates it if it is missing. Blocks.
    /// - Parameters:
    ///   - folder: the folder of the files; for this process alone.
    ///   - node: the node's name, in each row.
    ///   - settings: limits.
    ///   - date: the current time. Defaults to the machine's.
    ///   - report: called on any thread; must not wait.
    /// - Throws: `FileError`; `recordFolderTaken` while another process has the folder.
    package init(
        folder: String, node: String, _ settings: Settings = Settings(), date: Date = Date(),
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(FileError) {
        (self.folder, self.node, self.settings, self.report) = (folder, node, settings, report)
        start = max(0, Int64(clamping: Int(saturating: date.timeIntervalSince1970 * 1_000)))
        var generator = SystemRandomNumberGenerator()
        let number = generator.next()
        name = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }.hexString
        FileThreads.visits(folder)
        if mkdir(folder, 0o700) == 0 {
            let parent = (folder as NSString).deletingLastPathComponent
            let code = settings.disk.syncFolder(parent.isEmpty ? "." : parent)
            if code != 0 { report(.unsynced(reason: String(cString: strerror(code)))) }
        } else {
            guard errno == EEXIST else { throw .cannotWrite(folder) }
        }
        lock = try SpoolFile(creating: "\(folder)/lock")
        guard lock.hold() else {
            throw FileError(
                code: "recordFolderTaken", reason: "Another process is using the record's folder \(folder).",
                remedy: "Give each server its own folder, or stop the other process.")
        }
        let found: [String]
        do { found = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw .cannotRead(folder, because: "its files cannot be listed")
        }
        let segments = try Self.segments(found, in: folder)
        state.withLock { state in
            state.segments = segments
            state.standing.rows = segments.reduce(0) { $0 + $1.rows - $1.acknowledgedRows }
            state.standing.bytes = segments.reduce(0) { $0 + $1.size }
            state.standing.oldest = segments.map(\.start).min()
        }
    }

    /// The files that earlier processes left, except the ones known to be shipped.
    /// - Parameter found: the names in the folder.
    /// - Throws: `FileError` for a file of rows that cannot be read.
    private static func segments(_ found: [String], in folder: String) throws(FileError) -> [SpoolSegment] {
        let known = Dictionary(Acknowledged.all(in: folder).map { ($0.spool, $0) }) { _, last in last }
        var segments: [SpoolSegment] = []
        for name in found.sorted() {
            guard var segment = SpoolSegment(named: name) else { continue }
            // The clock may have been set back between two processes: the order of names says nothing about other spools.
            if let known = known[segment.spool], segment.first < known.first {
                unlink("\(folder)/\(name)")
                continue
            }
            try segment.measure(in: folder)
            if let known = known[segment.spool], known.segment == name {
                segment.offset = min(known.offset, segment.size)
                segment.acknowledgedRows = min(known.rows, segment.rows)
            }
            segments.append(segment)
        }
        return segments
    }

    package var standing: Standing {
        state.withLock { state in
            var standing = state.standing
            if standing.rows == 0 { standing.oldest = nil }
            standing.isFull = state.lastWasLost
            return standing
        }
    }

    /// Keeps a row, and waits until it is kept.
    @discardableResult
    package func append(_ row: LicenseRecordRow) async -> Outcome {
        let promise = Promise<Outcome, Never>()
        add(row, promise)
        return await withCheckedContinuation { done in
            promise.whenResolved { done.resume(with: $0) }
        }
    }

    /// Keeps a row without waiting for it.
    package func post(_ row: LicenseRecordRow) { add(row, nil) }

    private func add(_ row: LicenseRecordRow, _ promise: Promise<Outcome, Never>?) {
        let one = Waiting(json: row.jsonEnd, time: row.time, promise: promise)
        let (outcome, begins) = state.withLock { state -> (Outcome?, Bool) in
            guard !state.isClosed else { return (.lost(.closed), false) }
            guard state.waitingBytes + one.json.count <= settings.memory else { return (.lost(.stuck), false) }
            state.waiting.append(one)
            state.waitingBytes += one.json.count
            defer { state.isWriting = true }
            return (state.isStuck ? .late : nil, !state.isWriting)
        }
        if case .lost(let loss) = outcome { report(.lost(loss, 1, reason: "")) }
        if let outcome { promise?.resolve(.success(outcome)) }
        if begins { queue.async { self.writeWaiting() } }
    }

    /// Writes all waiting rows and syncs them to the disk.
    package func flush() async {
        await withCheckedContinuation { done in
            queue.async {
                self.writeWaiting()
                self.syncing.async {
                    self.sync()
                    done.resume()
                }
            }
        }
    }

    /// Ends the current file if rows of it are shipped, so that it can be removed: an open one keeps them.
    package func endFile() async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            queue.async { [self] in
                defer { done.resume() }
                guard let file = state.withLock({ $0.segments.last?.offset ?? 0 > 0 ? $0.file : nil }) else { return }
                let code = settings.disk.sync(file.descriptor)
                if code != 0 { report(.unsynced(reason: String(cString: strerror(code)))) }
                state.withLock { ($0.file, $0.isDirty) = (nil, false) }
            }
        }
    }

    /// Takes no more rows, and writes the waiting ones.
    package func close() async {
        state.withLock { $0.isClosed = true }
        await flush()
    }

    /// Releases the folder to another spool; this one must not be used any more.
    package func leaveFolder() { lock.letGo() }
}
