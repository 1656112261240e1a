import Foundation
package import LatchkeyCore
package import LatchkeySystem

/// Ships the rows of a spool to their destination, in order, for as long as its task runs.
///
/// While the destination does not answer, the spool grows; shipping then resumes automatically.
///
/// Source: `Documentation/Server/Record.md` §3.
package final class RecordShipper: Sendable {
    /// An event to report.
    package enum Event: Sendable {
        case shipped(Int)
        /// A row that the destination refuses because of its content. It is in the file.
        case refused(file: String, StoreError)
        case dropped(days: Int)
        /// A failure that does not concern the destination: unreadable files of the spool, days that cannot be dropped.
        case failed(any DiagnosableError)
    }

    /// The pause after a failure, at first and at most.
    private static let pauses = (first: Duration.milliseconds(250), longest: Duration.seconds(5))
    /// The pause of the upkeep of days, after success and after a failure.
    private static let upkeep = (done: Duration.seconds(3_600), failed: Duration.seconds(60))

    private let spool: RecordSpool
    private let folder: String
    private let destination: any RecordDestination
    private let guarded: EngineGuard
    private let days: Int?
    private let threads: FileThreads
    private let timekeeper: any Timekeeper
    private let report: @Sendable (Event) -> Void
    /// Held on a thread for files, while the file of refused rows changes.
    private let refused = NSLock()

    /// - Parameters:
    ///   - spool: the spool of the rows.
    ///   - folder: the folder for rows that the destination refuses.
    ///   - destination: the destination.
    ///   - health: notes whether the destination answers.
    ///   - days: how many days it keeps; `nil` for all.
    ///   - threads: the threads that read files. Defaults to separate ones.
    ///   - timekeeper: the clock. Defaults to the machine's.
    ///   - report: called on any thread; must not wait.
    package init(
        _ spool: RecordSpool, folder: String, to destination: any RecordDestination, health: EngineHealth,
        days: Int? = nil, threads: FileThreads = FileThreads(limit: .seconds(30)),
        timekeeper: any Timekeeper = SystemTimekeeper(), report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        (self.spool, self.folder, self.destination) = (spool, folder, destination)
        guarded = EngineGuard(health)
        (self.days, self.threads, self.timekeeper, self.report) = (days, threads, timekeeper, report)
    }

    /// Ships until the task is cancelled.
    package func run() async {
        var (pause, due) = (Self.pauses.first, timekeeper.uptime)
        var held: RecordSpool.Portion?
        while !Task.isCancelled {
            if timekeeper.uptime >= due {
                // So that a shipped row leaves this disk within the hour.
                await spool.endFile()
                let isOver = await keepDays()
                due = timekeeper.uptime + (isOver ? Self.upkeep.done : Self.upkeep.failed)
            }
            do {
                if held == nil { held = try await next() }
                guard let portion = held else {
                    guard (try? await timekeeper.sleep(for: destination.interval)) != nil else { return }
                    continue
                }
                try await ship(portion)
                (held, pause) = (nil, Self.pauses.first)
                guard !portion.isFull else { continue }
                guard (try? await timekeeper.sleep(for: destination.interval)) != nil else { return }
            } catch {
                guard !Task.isCancelled else { return }
                note(error)
                guard (try? await timekeeper.sleep(for: pause)) != nil else { return }
                pause = min(pause * 2, Self.pauses.longest)
            }
        }
    }

    /// Ships the remaining rows, unless the destination does not answer; before the process ends. After `run` has ended.
    package func finish() async {
        guard !guarded.health.isAway(for: .write) else { return }
        do {
            while let portion = try await next() { try await ship(portion) }
            await spool.endFile()
            _ = try await next()
        } catch {
            note(error)
        }
    }

    private func next() async throws -> RecordSpool.Portion? {
        guard spool.standing.bytes > 0 else { return nil }
        return try await threads.run(folder) { [spool] in try spool.next() }
    }

    private func ship(_ portion: RecordSpool.Portion) async throws {
        try await ship(portion.batch)
        report(.shipped(portion.batch.lines.count))
        try await threads.run(folder) { [spool] in spool.acknowledge(portion) }
    }

    /// Ships rows. Rows that the destination refuses because of their content are found by bisection and put aside, so that they do not
    /// hold up the others.
    private func ship(_ batch: RecordBatch) async throws {
        do throws(StoreError) {
            return try await guarded.ask(EngineWork(.write)) { [destination] in
                let position = try await destination.take(batch)
                guard let last = batch.lines.last, position < last.sequence else { return }
                throw StoreError(
                    .misconfigured, destination.engine,
                    reason: "The record's destination accepted rows but does not have them.")
            }
        } catch {
            guard error.kind == .unfit else { throw error }
            guard batch.lines.count > 1 else { return try await putAside(batch, error) }
        }
        let middle = batch.lines.count / 2
        for half in [batch.lines[..<middle], batch.lines[middle...]] {
            try await ship(RecordBatch(node: batch.node, spool: batch.spool, lines: Array(half)))
        }
    }

    private func putAside(_ batch: RecordBatch, _ error: StoreError) async throws {
        let file = refusedFile
        let bytes = batch.lines.flatMap { $0.json + [SpoolFrame.newline] }
        try await threads.run(file) { [refused] in
            FileThreads.visits(file)
            try refused.withLock {
                let opened = try SpoolFile(creating: file)
                guard SpoolDisk.writeAll(opened.descriptor, bytes) == 0 else { throw FileError.cannotWrite(file) }
            }
        }
        report(.refused(file: file, error))
    }

    private var refusedFile: String { "\(folder)/refused.jsonl" }

    /// Erases an account from the rows that the destination refused, and lets go of shipped ones.
    /// - Parameter isTrial: whether it only counts.
    /// - Returns: how many of the refused rows are the account's.
    package func erase(_ erasure: RecordErasure, isTrial: Bool) async throws -> Int {
        if !isTrial { await spool.endFile() }
        let file = refusedFile
        return try await threads.run(file) { [folder, refused] in
            FileThreads.visits(file)
            return try refused.withLock {
                guard access(file, F_OK) == 0 || errno != ENOENT else { return 0 }
                let bytes = Array(try PlainFile.read(file, limit: 256 << 20))
                guard let lines = ErasedLines(bytes[...], erasure), lines.count > 0 else { return 0 }
                if !isTrial { try RecordFiles.put(lines.bytes, named: "refused.jsonl", in: folder) }
                return lines.count
            }
        }
    }

    /// Makes days to come, and drops old ones.
    /// - Returns: whether no retry is needed soon.
    package func keepDays() async -> Bool {
        do throws(StoreError) {
            let today = Int((timekeeper.date.timeIntervalSince1970 / 86_400).rounded(.down))
            let dropped = try await guarded.ask(EngineWork(.days)) { [destination, days] in
                try await destination.keepDays(today: today, days: days)
            }
            if dropped > 0 { report(.dropped(days: dropped)) }
            return true
        } catch {
            guard !Task.isCancelled else { return false }
            if error.kind != .unavailable { report(.failed(error)) }
            return error.kind == .misconfigured
        }
    }

    /// Reports errors that the health does not cover.
    private func note(_ error: any Error) {
        if error is StoreError, guarded.health.isAway(for: .write) { return }
        if let known = error as? any DiagnosableError { report(.failed(known)) }
    }
}
