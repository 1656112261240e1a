import LatchkeyCore

/// The state of a pool's admission.
package struct AdmissionState: Sendable, Hashable {
    /// How much work waits.
    package let waiting: Int
    /// How much may wait.
    package let limit: Int
    /// How many threads do admitted work.
    package let busyThreads: Int
    /// How long a piece of work takes.
    package let serviceTime: Duration
    /// Whether there is more work than can be done in time.
    package let isOverloaded: Bool

    init<Item>(_ queue: AdmissionQueue<Item>) {
        waiting = queue.count
        limit = queue.limit
        busyThreads = queue.busy
        serviceTime = queue.serviceTime
        isOverloaded = queue.servesNewestFirst || queue.count >= queue.limit
    }
}

/// An observer of admission. Called by any thread; must not wait.
package struct AdmissionObserver: Sendable {
    /// A piece of work waited so long and is done now.
    package let waited: @Sendable (Duration) -> Void
    /// A piece of work was refused.
    package let refused: @Sendable (AdmissionRefusal) -> Void

    package init(
        waited: @escaping @Sendable (Duration) -> Void = { _ in },
        refused: @escaping @Sendable (AdmissionRefusal) -> Void = { _ in }
    ) {
        self.waited = waited
        self.refused = refused
    }
}

extension WorkerPool {
    /// Does a piece of work on one of the threads, if it can be done in time.
    /// - Parameters:
    ///   - lane: the kind of work.
    ///   - session: its session, such as the playback session; spreads refused clients.
    ///   - tenant: the viewer's tenant; tenants take turns. Defaults to one for all.
    ///   - work: the work. It is not begun if the caller's task is cancelled before.
    /// - Returns: its result, or the refusal: immediately if the server is full or the caller's task is cancelled before the work begins.
    package func run<Value: Sendable>(
        _ lane: AdmissionLane, session: some StringProtocol, tenant: String = "",
        _ work: @escaping @Sendable () -> Value
    ) async -> Result<Value, AdmissionRefusal> {
        await run(lane, session: session, tenant: tenant, joint: nil, work)
    }

    /// Does a piece of work on one of the threads, if it can be done in time, together with others of its kind that wait.
    /// - Parameters:
    ///   - lane: the kind of work; pieces of several lanes are done together.
    ///   - session: its session, such as the playback session; spreads refused clients.
    ///   - tenant: the viewer's tenant. Defaults to one for all.
    ///   - work: the work.
    ///   - input: the work's input.
    /// - Returns: as `run(_:session:_:)`.
    package func run<Input: Sendable, Value: Sendable>(
        _ lane: AdmissionLane, session: some StringProtocol, tenant: String = "", _ work: BatchedWork<Input, Value>,
        _ input: Input
    ) async -> Result<Value, AdmissionRefusal> {
        await run(
            lane, session: session, tenant: tenant,
            joint: { BatchedPiece(work: work, piece: BatchedWork<Input, Value>.Piece(input: input, waiter: $0)) }
        ) { work.alone(input) }
    }

    private func run<Value: Sendable>(
        _ lane: AdmissionLane, session: some StringProtocol, tenant: String,
        joint: (@Sendable (PieceWaiter<Value>) -> BatchedPiece)?,
        _ work: @escaping @Sendable () -> Value
    ) async -> Result<Value, AdmissionRefusal> {
        if let result = runHere(work) { return .success(result) }
        let hash = session.utf8.stableHash()
        let waiter = PieceWaiter<Value>()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                guard waiter.waits(done) else {
                    return done.resume(returning: .failure(.init(lane: lane, why: .late, retryAfter: 1)))
                }
                let piece = WorkQueue.Piece(
                    work: { if let done = waiter.leaves() { done.resume(returning: .success(work())) } },
                    refuse: { waiter.leaves()?.resume(returning: .failure($0)) }, joint: joint.map { $0(waiter) })
                queue.add(piece, lane, session: hash >> 16, tenant: tenant)
            }
        } onCancel: {
            waiter.cancel()?.resume(returning: .failure(.init(lane: lane, why: .late, retryAfter: 1)))
        }
    }

    /// Does a piece of work immediately, if the calling task runs on one of the threads and nothing else waits.
    /// - Returns: its result; `nil` if it was not begun.
    package func runHere<Value>(_ work: () -> Value) -> Value? {
        var result: Value?
        guard isHere, !Task.isCancelled, queue.doHere({ result = work() }) else { return nil }
        return result
    }

    /// Whether the calling task runs on the pool's threads.
    private var isHere: Bool {
        guard #available(macOS 15, iOS 18, tvOS 18, *) else { return false }
        return withUnsafeCurrentTask { $0?.unownedTaskExecutor == queue.asUnownedTaskExecutor() }
    }

    /// The state of admission now.
    package var admission: AdmissionState { queue.state }

    /// Sets the observer of admission, in place of any earlier one.
    package func observe(_ observer: AdmissionObserver) { queue.observe(observer) }

    /// Refuses new work from now on; waiting work is done.
    package func drain() { queue.drain() }
}

/// The caller that waits for a piece of work that has not begun: the first to take it answers.
final class PieceWaiter<Value: Sendable>: Sendable {
    typealias Answer = CheckedContinuation<Result<Value, AdmissionRefusal>, Never>

    private struct State {
        var answer: Answer?
        var isCancelled = false
    }

    private let state = Locked(State())

    /// - Returns: false if the task was cancelled before.
    func waits(_ answer: Answer) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            state.answer = answer
            return true
        }
    }

    /// The waiter, for the first caller.
    func leaves() -> Answer? { state.withLock { $0.answer.take() } }

    func cancel() -> Answer? {
        state.withLock { state in
            state.isCancelled = true
            return state.answer.take()
        }
    }
}
