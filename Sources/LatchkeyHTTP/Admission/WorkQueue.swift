import Foundation
import LatchkeyCore

/// The next work for a pool's threads: jobs of tasks, which have to run, and then admitted work.
///
/// While as many threads of an HTTP server have joined, they do all of it, and the pool's own threads wait.
// Sound because everything is touched under `condition` only; `WorkerPoolTests` and `AdmissionTests` run many pieces concurrently.
final class WorkQueue: @unchecked Sendable {
    /// Work that may be refused.
    struct Piece: Sendable {
        let work: @Sendable () -> Void
        let refuse: @Sendable (AdmissionRefusal) -> Void
        /// How it is done together with others; `nil` for a piece that is done alone.
        var joint: BatchedPiece?
    }

    private let condition = NSCondition()
    private let limit: Int
    private let timekeeper: any Timekeeper
    private var observer = AdmissionObserver()
    private var jobs = Deque<@Sendable () -> Void>()
    private var admission: AdmissionQueue<Piece>
    private var isClosed = false
    /// The threads that have joined.
    private var joined: [pthread_t] = []
    /// The alarms of sleeping joined threads; the last one fell asleep last.
    private var resting: [ThreadAlarm] = []

    let threads: Int

    init(threads: Int, limit: Int, rules: AdmissionRules, timekeeper: any Timekeeper) {
        self.threads = max(1, threads)
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
        let (isAdded, alarm): (Bool, ThreadAlarm?) = condition.withLock {
            guard jobs.count < limit else { return (false, nil) }
            jobs.append(job)
            return (true, waker())
        }
        alarm?.ring()
        return isAdded
    }

    /// Adds a job even beyond the limit: a job has to run, and there are no more tasks than connections.
    func add(always job: @escaping @Sendable () -> Void) {
        let alarm = condition.withLock {
            jobs.append(job)
            return waker()
        }
        alarm?.ring()
    }

    /// Adds work that may be refused, immediately or later.
    func add(_ piece: Piece, _ lane: AdmissionLane, session: UInt64, tenant: String) {
        var refused: [(piece: Piece, refusal: AdmissionRefusal)] = []
        let (observer, alarm): (AdmissionObserver, ThreadAlarm?) = condition.withLock {
            do throws(AdmissionRefusal) {
                let dropped = try admission.add(
                    piece, lane, session: session, tenant: tenant, at: timekeeper.uptime)
                if let dropped { refused.append((dropped.item, dropped.refusal)) }
                return (self.observer, waker())
            } catch {
                refused.append((piece, error))
                return (self.observer, nil)
            }
        }
        alarm?.ring()
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
            while isHosted || isEmpty {
                if isClosed, isEmpty {
                    condition.unlock()
                    return nil
                }
                condition.wait()
            }
            condition.unlock()
            if let work = take() { return work }
        }
    }

    /// The next work; `nil` if none waits.
    func take() -> (@Sendable () -> Void)? {
        condition.lock()
        if let job = jobs.popFirst() {
            condition.unlock()
            return job
        }
        guard admission.count > 0 else {
            condition.unlock()
            return nil
        }
        let now = timekeeper.uptime
        var (admitted, dropped) = admission.next(at: now)
        let joined = admitted?.item.joint.map { join($0, at: now, &dropped) } ?? []
        let observer = observer
        condition.unlock()
        for late in dropped {
            observer.refused(late.refusal)
            late.item.refuse(late.refusal)
        }
        guard let admitted else { return nil }
        observer.waited(admitted.wait)
        guard !joined.isEmpty else { return { self.run(admitted.item, from: now) } }
        for one in joined { observer.waited(one.wait) }
        return { self.run([admitted] + joined, from: now) }
    }

    /// The work that a thread does together with its piece: the pieces that are next anyway, as many as wait now. Called under `condition`.
    private func join(
        _ piece: BatchedPiece, at now: Duration, _ dropped: inout [AdmissionQueue<Piece>.Dropped]
    ) -> [AdmissionQueue<Piece>.Admitted] {
        var joined: [AdmissionQueue<Piece>.Admitted] = []
        guard admission.count + 1 >= piece.work.least else { return joined }
        while joined.count + 1 < piece.work.most {
            let next = admission.next(at: now) { $0.joint?.work === piece.work }
            dropped += next.dropped
            guard let one = next.admitted else { break }
            joined.append(one)
        }
        return joined
    }

    /// Whether enough threads have joined to do everything.
    private var isHosted: Bool { joined.count >= threads }

    private var isEmpty: Bool { jobs.isEmpty && admission.count == 0 }

    /// Ensures that a thread does the added work; called under `condition`.
    /// - Returns: the alarm to ring afterwards; `nil` if no thread has to be woken, because the thread that adds takes it next.
    private func waker() -> ThreadAlarm? {
        guard isHosted else {
            condition.signal()
            return nil
        }
        let isMine = jobs.count + admission.count <= 1 && joined.contains(pthread_self())
        return isMine ? nil : resting.popLast()
    }

    package func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    private func run(_ piece: Piece, from start: Duration) {
        piece.work()
        condition.withLock { admission.finished(in: timekeeper.uptime - start) }
    }

    private func run(_ pieces: [AdmissionQueue<Piece>.Admitted], from start: Duration) {
        let joint = pieces.compactMap(\.item.joint)
        joint.first?.work.run(joint.map(\.piece))
        condition.withLock { admission.finished(pieces.count, in: timekeeper.uptime - start) }
    }
}

extension WorkQueue: ThreadWork {
    func join() { condition.withLock { joined.append(pthread_self()) } }

    func leave() {
        let alarm: ThreadAlarm? = condition.withLock {
            if let index = joined.firstIndex(of: pthread_self()) { joined.remove(at: index) }
            // The pool's own threads do the rest.
            if !isHosted { condition.broadcast() }
            return isEmpty ? nil : resting.popLast()
        }
        alarm?.ring()
    }

    func rest(_ alarm: ThreadAlarm) -> Bool {
        condition.withLock {
            guard isEmpty else { return false }
            resting.append(alarm)
            return true
        }
    }

    func rise(_ alarm: ThreadAlarm) { condition.withLock { resting.removeAll { $0 === alarm } } }
}

/// Also runs the jobs of tasks.
@available(macOS 15, iOS 18, tvOS 18, *)
extension WorkQueue: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        add(always: { job.runSynchronously(on: self.asUnownedTaskExecutor()) })
    }
}
