import Foundation
import LatchkeyCore
import LatchkeySystem

/// A connection with its own thread, so that no Swift thread waits for a disk.
///
/// Writes that wait while another one is under way share one transaction, each with a savepoint: one that fails takes back
/// its own changes and no others. Callers get their answers after the commit.
final class SQLiteLane: Sendable {
    /// The durability of a write when the power fails.
    enum Durability: Sendable {
        /// The last writes may be lost, but the file is whole: records, where a lease is the worst loss.
        case lazy
        /// It is on the disk when it is answered: keys and the audit.
        case full
    }

    fileprivate enum Work: Sendable {
        case read(@Sendable (SQLiteConnection) -> Void)
        case write(
            Durability, @Sendable (SQLiteConnection) throws(StoreError) -> Void, done: @Sendable (StoreError?) -> Void)
    }

    /// The most writes of one transaction, and the most waiting pieces of work.
    private static let batch = 256
    private static let limit = 4_096

    private let inbox = WorkInbox<Work>(limit: limit)
    private let end = Promise<Void, Never>()

    /// Starts the thread, which closes the connection when the lane is released.
    /// - Parameters:
    ///   - connection: belongs to the lane alone from now on.
    ///   - name: the thread's name.
    ///   - log: brings the log into the file. Defaults to SQLite's own way.
    init(_ connection: sending SQLiteConnection, name: String, log: SQLiteLog? = nil) {
        let (inbox, end) = (inbox, end)
        // Sound because the thread is the only one that touches the connection from now on; the conformance suite runs on it.
        nonisolated(unsafe) let connection = connection
        let thread = Thread {
            var writer = SQLiteWriter(connection: connection)
            while let work = inbox.next(atMost: Self.batch) {
                writer.run(work)
                log?.bringIfLong(connection)
            }
            log?.end(connection)
            connection.close()
            end.resolve(.success(()))
        }
        thread.name = "latchkey-sqlite-\(name)"
        thread.start()
    }

    deinit { close() }

    /// Ends the thread after the waiting work. Later work fails as unavailable.
    package func close() { inbox.close() }

    /// Waits until the thread has ended and the connection is closed. A cancelled caller stops waiting.
    func ended() async { _ = try? await end.value }

    /// Reads, alone.
    package func read<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await withCheckedContinuation { (done: CheckedContinuation<Result<Value, StoreError>, Never>) in
            let isTaken = inbox.add(
                .read { connection in
                    done.resume(returning: Result { () throws(StoreError) in try work(connection) })
                })
            if !isTaken { done.resume(returning: .failure(Self.overrun)) }
        }.get()
    }

    /// Writes, perhaps together with others.
    func write<Value: Sendable>(
        _ durability: Durability, _ work: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await withCheckedContinuation { (done: CheckedContinuation<Result<Value, StoreError>, Never>) in
            let answer = Locked<Value?>(nil)
            let isTaken = inbox.add(
                .write(durability) { connection throws(StoreError) in
                    let value = try work(connection)
                    answer.withLock { $0 = value }
                } done: { error in
                    let value = answer.withLock { $0 }
                    done.resume(
                        returning: value.map { error.map(Result.failure) ?? .success($0) }
                            ?? .failure(error ?? Self.overrun))
                })
            if !isTaken { done.resume(returning: .failure(Self.overrun)) }
        }.get()
    }

    /// Writes when there is time, perhaps together with others, without a waiting caller. A write that fails, or does not fit into the
    /// queue, is dropped.
    /// - Parameter done: called with the error of a failed write. Defaults to nothing.
    func writeLater(
        _ work: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Void,
        done: @escaping @Sendable (StoreError?) -> Void = { _ in }
    ) {
        _ = inbox.add(.write(.lazy, work, done: done))
    }

    private static var overrun: StoreError {
        StoreError(
            .unavailable, SQLiteStore.name, reason: "\(limit) operations wait for the file, or it was closed.")
    }
}

/// Runs the work of one lane, on its thread.
private struct SQLiteWriter {
    typealias Write = (
        work: @Sendable (SQLiteConnection) throws(StoreError) -> Void, done: @Sendable (StoreError?) -> Void
    )

    let connection: SQLiteConnection
    private var durability: SQLiteLane.Durability?

    init(connection: SQLiteConnection) { self.connection = connection }

    mutating func run(_ work: [SQLiteLane.Work]) {
        var writes: [Write] = []
        var isDurable = false
        for piece in work {
            switch piece {
            case .read(let read): read(connection)
            case .write(let durability, let write, let done):
                writes.append((write, done))
                isDurable = isDurable || durability == .full
            }
        }
        if !writes.isEmpty { run(writes, isDurable ? .full : .lazy) }
    }

    private mutating func run(_ writes: [Write], _ durability: SQLiteLane.Durability) {
        var outcomes: [StoreError?] = []
        do throws(StoreError) {
            try begin(durability)
            for write in writes {
                do throws(StoreError) {
                    try inSavepoint(write.work)
                    outcomes.append(nil)
                } catch {
                    // A full disk rolls the whole transaction back.
                    guard !connection.isOutsideTransaction else { throw error }
                    outcomes.append(error)
                }
            }
            try connection.run("COMMIT")
        } catch {
            if !connection.isOutsideTransaction { _ = try? connection.run("ROLLBACK") }
            outcomes = [StoreError?](repeating: error, count: writes.count)
        }
        for (write, outcome) in zip(writes, outcomes) { write.done(outcome) }
    }

    private mutating func begin(_ wanted: SQLiteLane.Durability) throws(StoreError) {
        if durability != wanted {
            // Takes effect with the next transaction. All share one write-ahead log, so a full commit also syncs the lazy ones before it.
            try connection.execute("PRAGMA synchronous = \(wanted == .full ? "FULL" : "NORMAL")")
            durability = wanted
        }
        try connection.run("BEGIN IMMEDIATE")
    }

    private func inSavepoint(_ work: (SQLiteConnection) throws(StoreError) -> Void) throws(StoreError) {
        try connection.run("SAVEPOINT piece")
        do {
            try work(connection)
        } catch {
            if !connection.isOutsideTransaction {
                try connection.run("ROLLBACK TO piece")
                try connection.run("RELEASE piece")
            }
            throw error
        }
        try connection.run("RELEASE piece")
    }
}
