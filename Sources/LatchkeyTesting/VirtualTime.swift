public import Foundation
public import LatchkeyCore

/// A clock that advances only when there is nothing else to do: simulated days take as long as the work in them.
///
/// Runs a simulation and all tasks that it starts, one at a time, on one thread. When all of them wait, the clock moves to the moment at
/// which the next one wakes up. `hold()` keeps the clock from moving during work elsewhere, such as on a server's threads.
///
///     let time = VirtualTime()
///     try await time.run { … loader(timekeeper: time) … }
@available(macOS 15, iOS 18, tvOS 18, *)
public final class VirtualTime: Timekeeper, TaskExecutor {
    private struct Sleeper {
        let wakeUp: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var start: Date
        var uptime = Duration.zero
        var jobs: [UnownedJob] = []
        var sleepers: [UInt64: Sleeper] = [:]
        var cancelled: Set<UInt64> = []
        var next: UInt64 = 0
        var holds = 0
        var hasEnded = false
        var isCancelled = false
    }

    private let condition = NSCondition()
    // Sound because it is touched only under the condition's lock, in `access`; every simulation's test drives it.
    nonisolated(unsafe) private var state: State

    /// - Parameter date: the date to begin with. Defaults to 2026-01-01T00:00:00Z.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) { state = State(start: date) }

    public var date: Date { access { $0.start.addingTimeInterval($0.uptime.inSeconds) } }
    public var uptime: Duration { access { $0.uptime } }

    /// The number of tasks that wait for time to pass.
    public var sleeperCount: Int { access { $0.sleepers.count } }

    /// Runs a simulation to its end.
    ///
    /// Cancelling the waiting task cancels the simulation; a simulation that then waits for a `hold()` to end is given up.
    /// - Throws: the simulation's error; `VirtualTimeError` if it waits for the impossible; `CancellationError` if it is given up.
    public func run<Value: Sendable>(_ simulation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        let task = start {
            let value = await TaskStart.$starter.withValue({ self.start($0) }) {
                await Result { try await simulation() }
            }
            result.withLock { $0 = value }
            self.access { $0.hasEnded = true }
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try self.runJobs() })
                    task.cancel()
                }
            }
        } onCancel: {
            task.cancel()
            access { $0.isCancelled = true }
        }
        guard let ended = result.withLock({ $0 }) else { throw VirtualTimeError() }
        return try ended.get()
    }

    /// Keeps the clock from moving during work outside the simulation.
    /// - Returns: a closure to call when the work is done.
    public func hold() -> @Sendable () -> Void {
        access { $0.holds += 1 }
        return { self.access { $0.holds -= 1 } }
    }

    /// Moves the clock immediately, as a suspended app finds it when it wakes up. Overdue tasks wake up now.
    public func jump(by duration: Duration) {
        let due = access { state in
            state.uptime += duration
            return Self.takeDue(&state)
        }
        for continuation in due { continuation.resume() }
    }

    /// Sets the date without letting time pass, as a user or the network does.
    public func setDate(_ date: Date) { access { $0.start = date.addingTimeInterval(-$0.uptime.inSeconds) } }

    public func sleep(for duration: Duration) async throws {
        let id = access { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add(id, duration, $0) }
        } onCancel: {
            let sleeper = access { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        access { $0.jobs.append(job) }
    }
}

/// A simulation waits for something that cannot happen: no task can run, and none waits for time to pass.
public struct VirtualTimeError: Error, CustomStringConvertible {
    public var description: String { "The simulation waits for something that cannot happen." }
}

@available(macOS 15, iOS 18, tvOS 18, *)
extension VirtualTime {
    private func start(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self, operation: operation)
    }

    /// Runs every ready task, and moves the clock when there is none, until the simulation has ended.
    private func runJobs() throws {
        let executor = asUnownedTaskExecutor()
        while true {
            for job in try nextJobs() { job.runSynchronously(on: executor) }
            if access({ $0.hasEnded }) { return runRest(on: executor) }
        }
    }

    /// Runs the jobs that the simulation's end has started, so that none is left; the clock does not move.
    private func runRest(on executor: UnownedTaskExecutor) {
        while true {
            let jobs = access { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            guard !jobs.isEmpty else { return }
            for job in jobs { job.runSynchronously(on: executor) }
        }
    }

    private func nextJobs() throws -> [UnownedJob] {
        while true {
            let (jobs, due) = try waitForWork()
            if !jobs.isEmpty { return jobs }
            for continuation in due { continuation.resume() }
        }
    }

    /// Jobs; or else, when all is quiet, the sleepers of the next moment at which any wakes up.
    private func waitForWork() throws -> (jobs: [UnownedJob], due: [CheckedContinuation<Void, any Error>]) {
        condition.lock()
        defer { condition.unlock() }
        while state.jobs.isEmpty, state.holds > 0, !state.isCancelled { condition.wait() }
        guard state.jobs.isEmpty else {
            defer { state.jobs = [] }
            return (state.jobs, [])
        }
        guard state.holds == 0 else { throw CancellationError() }
        guard let next = state.sleepers.values.map(\.wakeUp).min() else { throw VirtualTimeError() }
        state.uptime = max(state.uptime, next)
        return ([], Self.takeDue(&state))
    }

    private static func takeDue(_ state: inout State) -> [CheckedContinuation<Void, any Error>] {
        let now = state.uptime
        let due = state.sleepers.filter { $0.value.wakeUp <= now }
        for id in due.keys { state.sleepers[id] = nil }
        return due.sorted { ($0.value.wakeUp, $0.key) < ($1.value.wakeUp, $1.key) }.map(\.value.continuation)
    }

    private func add(_ id: UInt64, _ duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
        let result: Result<Void, any Error>? = access { state in
            if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
            guard duration > .zero else { return .success(()) }
            state.sleepers[id] = Sleeper(wakeUp: state.uptime + duration, continuation: continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func access<Result>(_ body: (inout State) -> Result) -> Result {
        condition.lock()
        defer {
            condition.signal()
            condition.unlock()
        }
        return body(&state)
    }
}
