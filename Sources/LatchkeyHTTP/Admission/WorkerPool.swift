public import Foundation
package import LatchkeyCore

/// Threads for work that blocks or takes long, such as RSA, so that Swift's own threads stay free.
///
/// The threads end when the pool is released.
public final class WorkerPool: Sendable {
    let queue: WorkQueue

    /// The pool's work, for an HTTP server whose threads shall do it besides reading and writing.
    package var work: any ThreadWork { queue }

    /// - Parameters:
    ///   - threads: the number of threads. Defaults to one per processor.
    ///   - waiting: how many pieces of work may wait; more are refused. Defaults to 1,024.
    public convenience init(threads: Int = ProcessInfo.processInfo.activeProcessorCount, waiting: Int = 1_024) {
        self.init(threads: threads, waiting: waiting, rules: AdmissionRules())
    }

    /// - Parameters:
    ///   - threads: the number of threads.
    ///   - waiting: how many pieces of work without a lane may wait. Defaults to 1,024.
    ///   - rules: how much work of the lanes may wait.
    ///   - standing: which threads go first where there are more than processors. Defaults to the process's.
    ///   - timekeeper: the clock that measures waiting and work. Defaults to the machine's.
    package init(
        threads: Int, waiting: Int = 1_024, rules: AdmissionRules = AdmissionRules(), standing: ThreadPriority = .usual,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        let queue = WorkQueue(threads: threads, limit: waiting, rules: rules, timekeeper: timekeeper)
        self.queue = queue
        for number in 0..<max(1, threads) {
            let thread = Thread {
                standing.take()
                while let work = queue.next() { work() }
            }
            thread.name = "latchkey-worker-\(number)"
            thread.start()
        }
    }

    deinit { queue.close() }

    /// Runs a piece of work on one of the threads, immediately if the task already runs on one of them.
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
