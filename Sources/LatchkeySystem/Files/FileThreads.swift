import Foundation
package import LatchkeyCore

/// Threads on which files are read, so that a hanging file takes no thread of Swift's tasks with it.
///
/// Each piece of work has its own thread, named `latchkey-files`. If it takes too long, its caller gets an error and continues; the thread
/// stays until the system releases it, and its result is dropped. While too many hang, further work is refused immediately.
package final class FileThreads: Sendable {
    /// The file that one piece of work looks at, and a place where tests hold it up.
    private final class Visit: Sendable {
        let path = Locked<String?>(nil)
        let opening: @Sendable (String) -> Void

        init(_ opening: @escaping @Sendable (String) -> Void) { self.opening = opening }
    }

    @TaskLocal private static var visit: Visit?

    /// How long a piece of work may take unless it is said otherwise.
    package static let usualLimit = Duration.seconds(5)

    private let limit: Duration
    private let most: Int
    private let timekeeper: any Timekeeper
    private let opening: @Sendable (String) -> Void
    private struct State {
        /// How many threads there are.
        var running = 0
        var isEnded = false
        var last = 0
        /// The callers that wait for a result, by number, and the closures that say that there will be none.
        var waiting: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: how long a piece of work may take. Defaults to 5 s.
    ///   - most: how many may run at the same time, including hanging ones. Defaults to 8.
    ///   - timekeeper: the clock. Defaults to the machine's.
    ///   - opening: called on the thread before a file is opened; for tests of files that hang. Defaults to nothing.
    package init(
        limit: Duration = FileThreads.usualLimit, most: Int = 8, timekeeper: any Timekeeper = SystemTimekeeper(),
        opening: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.limit = limit
        self.most = most
        self.timekeeper = timekeeper
        self.opening = opening
    }

    /// Notes which file the work on this thread looks at, for the error if it hangs there.
    package static func visits(_ path: String) {
        guard let visit else { return }
        visit.path.withLock { $0 = path }
        visit.opening(path)
    }

    /// Does the work on its own thread.
    /// - Parameters:
    ///   - place: the place that is read, for the error; the file at which it hangs is named if it is known.
    ///   - limit: how long it may take; `nil` for the usual.
    /// - Throws: the work's errors; `FileError` with `fileHangs`; `CancellationError` if the waiting task is cancelled, or after ``end()``.
    package func run<Value: Sendable>(
        _ place: String, within limit: Duration? = nil, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let (limit, visit, result) = (limit ?? self.limit, Visit(opening), Promise<Value, any Error>())
        let number = try begin(place) { result.cancel() }
        defer { state.withLock { $0.waiting[number] = nil } }
        return try await withDeadline(
            limit, timekeeper, expired: { FileError.hangs(visit.path.withLock { $0 } ?? place, limit) }
        ) {
            let thread = Thread { [self] in
                // From inside: if it is set before the start, Linux shows the name of the starting thread.
                Thread.current.name = "latchkey-files"
                let outcome = Result { try Self.$visit.withValue(visit) { try work() } }
                state.withLock { $0.running -= 1 }
                result.resolve(outcome)
            }
            thread.start()
            return try await result.valueOrCancel()
        }
    }

    /// - Returns: the caller's number.
    private func begin(_ place: String, _ cancel: @escaping @Sendable () -> Void) throws -> Int {
        try state.withLock { state in
            guard !state.isEnded else { throw CancellationError() }
            guard state.running < most else { throw FileError.tooMany(most, place) }
            state.running += 1
            state.last += 1
            state.waiting[state.last] = cancel
            return state.last
        }
    }

    /// Waits for nothing more: current and later callers get a `CancellationError`.
    package func end() {
        let waiting = state.withLock { state in
            state.isEnded = true
            return Array(state.waiting.values)
        }
        for cancel in waiting { cancel() }
    }
}
