import Foundation
import LatchkeyCore

/// What the threads of a pool do next: jobs of tasks, which have to run, and then admitted work.
// Sound because everything is touched under `condition` only; `WorkerPoolTests` and `AdmissionTests` run many pieces at once.
final class WorkQueue: @unchecked Sendable {
    /// Work that may be refused.
    struct Piece: Sendable {
        let work: @Sendable () -> Void
        let refuse: @Sendable (AdmissionRefusal) -> Void
    }

    private let condition = NSCondition()
    private let limit: Int
    private let timekeeper: any Timekeeper
    private var observer = AdmissionObserver()
    private var jobs = Deque<@Sendable () -> Void>()
    private var admission: AdmissionQueue<Piece>
    private var isClosed = false

    init(threads: Int, limit: Int, rules: AdmissionRules, timekeeper: any Timekeeper) {
        self.limit = limit
        self.timekeeper = timekeeper
        admission = AdmissionQueue(threads: threads, rules: rules)
    }

    var isFull: Bool { condition.withLock { jobs.count >= limit } }

    /// The admission now.
    var state: AdmissionState { condition.withLock { AdmissionState(admission) } }

    func observe(_ observer: AdmissionObserver) { condition.withLock { self.observer = observer } }
    func drain() { condition.withLock { admission.isDraining = true } }

    /// Adds a job; `false` if too many wait.
    func add(_ job: @escaping @Sendable () -> Void) -> Bool {
        condition.withLock {
            guard jobs.count < limit else { return false }
            jobs.append(job)
            condition.signal()
            return true
        }
    }

    /// Adds a job even beyond the limit: a job has to run, and there are no more tasks than connections.
    func add(always job: @escaping @Sendable () -> Void) {
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    /// Adds work that may be refused, at once or later.
    func add(_ piece: Piece, _ lane: AdmissionLane, session: UInt64) {
        var refused: [(piece: Piece, refusal: AdmissionRefusal)] = []
        let observer = condition.withLock {
            do throws(AdmissionRefusal) {
                let dropped = try admission.add(piece, lane, session: session, at: timekeeper.uptime)
                if let dropped { refused.append((dropped.item, dropped.refusal)) }
                condition.signal()
            } catch {
                refused.append((piece, error))
            }
            return self.observer
        }
        for (piece, refusal) in refused {
            observer.refused(refusal)
            piece.refuse(refusal)
        }
    }

    /// Does a piece of work on the calling thread, which is one of the pool's, if nothing else waits: it would be the next one anyway,
    /// and perhaps on a thread that has to be woken for it. While jobs wait, work goes to its lane: some of them may be refused there.
    /// - Returns: whether it was done; else it has to be added.
    func doHere(_ work: () -> Void) -> Bool {
        let now = timekeeper.uptime
        let observer: AdmissionObserver? = condition.withLock {
            jobs.isEmpty && admission.beginsAtOnce(at: now) ? self.observer : nil
        }
        guard let observer else { return false }
        observer.waited(.zero)
        work()
        condition.withLock { admission.finished(in: timekeeper.uptime - now) }
        return true
    }

    /// Waits for the next work; `nil` once the queue is closed and empty.
    func next() -> (@Sendable () -> Void)? {
        while true {
            condition.lock()
            while jobs.isEmpty, admission.count == 0 {
                if isClosed {
                    condition.unlock()
                    return nil
                }
                condition.wait()
            }
            if let job = jobs.popFirst() {
                condition.unlock()
                return job
            }
            let now = timekeeper.uptime
            let (admitted, dropped) = admission.next(at: now)
            let observer = observer
            condition.unlock()
            for late in dropped {
                observer.refused(late.refusal)
                late.item.refuse(late.refusal)
            }
            if let admitted {
                observer.waited(admitted.wait)
                return { self.run(admitted.item, from: now) }
            }
        }
    }

    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    private func run(_ piece: Piece, from start: Duration) {
        piece.work()
        condition.withLock { admission.finished(in: timekeeper.uptime - start) }
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
