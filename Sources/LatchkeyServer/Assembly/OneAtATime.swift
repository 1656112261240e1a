import LatchkeyCore

/// Work that never runs twice at the same time.
///
/// A call while it runs gets the result of one more run, which begins after that moment, and so sees earlier changes. All calls in the
/// meantime share that run.
package final class OneAtATime<Value: Sendable>: Sendable {
    typealias Work = @Sendable () async throws -> Value

    private struct State {
        var isRunning = false
        /// Whether no further run begins.
        var isEnded = false
        /// The run that begins when this one ends.
        var next: (work: Work, result: Promise<Value, any Error>)?
    }

    private let state = Locked(State())
    /// Resolved once it is ended and nothing runs.
    private let rest = Promise<Void, Never>()

    /// Does the work, now or after the current run, in its own task: a cancelled caller stops neither the work nor other callers, and still
    /// waits for it.
    func run(_ work: @escaping Work) async throws -> Value {
        let result = begin(work)
        return try await withCheckedThrowingContinuation { continuation in
            result.whenResolved { continuation.resume(with: $0) }
        }
    }

    /// Begins no further run: later calls get a `CancellationError`. Waits for the current run, and for a run that was already requested.
    func end() async {
        let isResting = state.withLock { state in
            state.isEnded = true
            return !state.isRunning
        }
        if isResting { rest.resolve(.success(())) }
        await withCheckedContinuation { waiter in rest.whenResolved { waiter.resume(with: $0) } }
    }

    /// Asks for the work without waiting for it.
    /// - Returns: its result.
    func begin(_ work: @escaping Work) -> Promise<Value, any Error> {
        let (result, begins) = state.withLock { state in
            let result = Promise<Value, any Error>()
            guard !state.isEnded else {
                result.cancel()
                return (result, false)
            }
            if let next = state.next { return (next.result, false) }
            if state.isRunning { state.next = (work, result) }
            defer { state.isRunning = true }
            return (result, !state.isRunning)
        }
        if begins { startTask { await self.run(work, for: result) } }
        return result
    }

    private func run(_ work: @escaping Work, for result: Promise<Value, any Error>) async {
        var current: (work: Work, result: Promise<Value, any Error>)? = (work, result)
        while let run = current {
            run.result.resolve(await Result { try await run.work() })
            current = state.withLock { state in
                defer { state.next = nil }
                state.isRunning = state.next != nil
                return state.next
            }
        }
        if state.withLock({ $0.isEnded }) { rest.resolve(.success(())) }
    }
}
