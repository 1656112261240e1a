public import Foundation

/// Threads for work that blocks or takes long, such as RSA, so that Swift's own threads stay free.
///
/// The threads end when the pool is released.
public final class WorkerPool: Sendable {
    private let queue: WorkQueue

    /// - Parameters:
    ///   - threads: the number of threads. Defaults to one per processor.
    ///   - waiting: how many pieces of work may wait; more are refused. Defaults to 1,024.
    public init(threads: Int = ProcessInfo.processInfo.activeProcessorCount, waiting: Int = 1_024) {
        let queue = WorkQueue(limit: waiting)
        self.queue = queue
        for number in 0..<max(1, threads) {
            let thread = Thread { while let work = queue.next() { work() } }
            thread.name = "latchkey-worker-\(number)"
            thread.start()
        }
    }

    deinit { queue.close() }

    /// Runs a piece of work on one of the threads, at once if the task runs on one of them already.
    /// - Returns: its result; `nil` if too many pieces are waiting.
    public func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result? {
        if #available(macOS 15, iOS 18, tvOS 18, *) {
            guard !queue.isFull else { return nil }
            return await withTaskExecutorPreference(queue) { work() }
        }
        return await withCheckedContinuation { done in
            if !queue.add({ done.resume(returning: work()) }) { done.resume(returning: nil) }
        }
    }

    /// Starts a task that runs on the threads, so that `run` within it does not change threads.
    public func task(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, *) else { return Task(operation: operation) }
        return Task(executorPreference: queue, operation: operation)
    }
}

// Sound because everything is touched under `condition` only; `WorkerPoolTests` runs many pieces at once.
private final class WorkQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private let limit: Int
    private var work: [@Sendable () -> Void] = []
    private var start = 0
    private var isClosed = false

    init(limit: Int) { self.limit = limit }

    func add(_ piece: @escaping @Sendable () -> Void) -> Bool {
        condition.withLock {
            guard work.count - start < limit else { return false }
            work.append(piece)
            condition.signal()
            return true
        }
    }

    var isFull: Bool { condition.withLock { work.count - start >= limit } }

    /// Adds a piece even beyond the limit: a job has to run, and there are no more tasks than connections.
    func add(always piece: @escaping @Sendable () -> Void) {
        condition.withLock {
            work.append(piece)
            condition.signal()
        }
    }

    /// Waits for the next piece; `nil` once the queue is closed and empty.
    func next() -> (@Sendable () -> Void)? {
        condition.withLock {
            while start == work.count {
                if isClosed { return nil }
                condition.wait()
            }
            defer { advance() }
            return work[start]
        }
    }

    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    /// Removes the pieces that were taken, many at a time, so that taking one does not move all others.
    private func advance() {
        start += 1
        guard start == work.count || start >= 256 else { return }
        work.removeFirst(start)
        start = 0
    }
}

/// Also runs the jobs of tasks.
@available(macOS 15, iOS 18, tvOS 18, *)
extension WorkQueue: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        add(always: { job.runSynchronously(on: self.asUnownedTaskExecutor()) })
    }
}
