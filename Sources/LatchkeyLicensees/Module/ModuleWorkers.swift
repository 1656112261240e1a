import Foundation
import LatchkeyCore

/// The worker processes of a module, each with its own thread, and the requests that wait for them.
///
/// Waiting requests go to a worker together. If the worker then fails, each of them is tried again alone, once: a crash costs the request
/// that causes it, and no other.
final class ModuleWorkers: Sendable {
    private let queue: ModuleQueue

    /// - Parameters:
    ///   - first: a process that is already started.
    ///   - count: how many processes there are at most.
    ///   - time: how long the module may take for a call.
    ///   - restarted: called after a process was ended or has ended, and before another one is started.
    init(
        _ start: ModuleProcess.Start, first: ModuleProcess, count: Int, within time: Duration,
        restarted: @escaping @Sendable () -> Void
    ) {
        let queue = ModuleQueue(workers: count)
        self.queue = queue
        for number in 0..<count {
            // It ends with this object, and with it the process.
            Thread.detachNewThread {
                var process = number == 0 ? first : nil
                while let jobs = queue.take() {
                    if process?.isRunning == false {
                        process = nil
                        restarted()
                    }
                    do throws(ModuleFailure) {
                        let running = if let process { process } else { try ModuleProcess(start) }
                        process = running
                        let answers = try running.answers(jobs.map(\.question), within: time)
                        for (job, answer) in zip(jobs, answers) { job.answer.resume(returning: answer) }
                    } catch {
                        if error.endsProcess {
                            process = nil
                            restarted()
                        }
                        queue.failed(jobs, error)
                    }
                }
            }
        }
    }

    deinit { queue.close() }

    func answer(_ question: ModuleQuestion) async -> Result<ModuleReply, ModuleFailure> {
        await withCheckedContinuation { queue.add(ModuleQueue.Job(question: question, answer: $0)) }
    }
}

/// The requests that wait for a worker.
// Sound because everything that changes is touched between `lock` and `unlock` of the condition.
private final class ModuleQueue: @unchecked Sendable {
    struct Job: Sendable {
        let question: ModuleQuestion
        let answer: CheckedContinuation<Result<ModuleReply, ModuleFailure>, Never>
    }

    private let condition = NSCondition()
    private let workers: Int
    private var waiting = Deque<Job>()
    /// Jobs that failed together with others. They go first, each alone.
    private var alone = Deque<Job>()
    private var isClosed = false

    /// How many requests may wait; more would not be answered in time.
    private static let limit = 1_024
    /// How many go to a worker together.
    private static let batch = 8

    init(workers: Int) { self.workers = workers }

    func add(_ job: Job) {
        let waits = condition.withLock {
            guard !isClosed, waiting.count < Self.limit else { return false }
            waiting.append(job)
            condition.signal()
            return true
        }
        guard !waits else { return }
        job.answer.resume(
            returning: .failure(ModuleFailure(.overloaded, "Too many requests wait for the licensee's module.")))
    }

    /// The next job, with others if more wait than there are workers. Waits for one; `nil` at the end.
    func take() -> [Job]? {
        condition.withLock {
            while waiting.isEmpty, alone.isEmpty, !isClosed { condition.wait() }
            if let job = alone.popFirst() { return [job] }
            let share = min(Self.batch, (waiting.count + workers - 1) / workers)
            let jobs = (0..<share).compactMap { _ in waiting.popFirst() }
            return jobs.isEmpty ? nil : jobs
        }
    }

    /// Answers a job that failed alone. Jobs that failed together are put back, each alone.
    func failed(_ failed: [Job], _ failure: ModuleFailure) {
        guard failed.count > 1 else {
            for job in failed { job.answer.resume(returning: .failure(failure)) }
            return
        }
        condition.withLock {
            for job in failed { alone.append(job) }
            condition.broadcast()
        }
    }

    /// Waiting jobs are still done; then the workers end.
    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }
}
