/// A result that arrives once: the first one wins, and any number of tasks and closures may wait for it.
///
/// A promise does no work and owns no task. A waiter that is cancelled stops waiting; the promise stays open for the others until it is
/// resolved or cancelled. Safe to use from any thread.
package final class Promise<Value: Sendable, Failure: Error>: Sendable {
    package typealias Outcome = Result<Value, Failure>

    private struct State {
        var outcome: Outcome?
        var lastWaiter = 0
        /// In order of arrival.
        var waiters: [(number: Int, call: @Sendable (Outcome) -> Void)] = []
    }

    private let state = Locked(State())

    package init() {}

    /// The result; `nil` while there is none.
    package var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Resolves the promise. Waiters are called in order of arrival, before this returns.
    /// - Returns: whether this result counts; `false` if there was one already.
    @discardableResult
    package func resolve(_ outcome: Outcome) -> Bool {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return nil as [(number: Int, call: @Sendable (Outcome) -> Void)]? }
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters ?? [] { waiter.call(outcome) }
        return waiters != nil
    }

    /// Calls a closure once with the result: immediately if there is one, else on the thread that resolves the promise. A promise that is
    /// deallocated unresolved calls no closure.
    package func whenResolved(_ call: @escaping @Sendable (Outcome) -> Void) { _ = add(call) }

    /// - Returns: the waiter's number; `nil` if it was called immediately.
    private func add(_ call: @escaping @Sendable (Outcome) -> Void) -> Int? {
        let (outcome, number) = state.withLock { state in
            guard state.outcome == nil else { return (state.outcome, nil as Int?) }
            state.lastWaiter += 1
            state.waiters.append((state.lastWaiter, call))
            return (nil, state.lastWaiter)
        }
        if let outcome { call(outcome) }
        return number
    }

    private func remove(_ number: Int) { state.withLock { $0.waiters.removeAll { $0.number == number } } }
}

// MARK: - Waiting

extension Promise {
    /// Waits for the result.
    /// - Throws: the failure; `CancellationError` if the waiting task is cancelled, which leaves the promise open.
    package var value: Value {
        get async throws {
            let waiting = Promise<Value, any Error>()
            let number = add { waiting.resolve($0.mapError { $0 as any Error }) }
            defer { number.map(remove) }
            return try await waiting.valueOrCancel()
        }
    }
}

extension Promise where Failure == any Error {
    /// Cancels the promise: its result is a `CancellationError`, unless it has one.
    package func cancel() { resolve(.failure(CancellationError())) }

    /// Waits for the result. Cancelling the waiting task cancels the promise, and so all other waiters.
    package func valueOrCancel() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                whenResolved { continuation.resume(with: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for a callback that may come twice, or never.
    /// - Parameter start: makes the call that resolves the promise; not called if the task is already cancelled.
    /// - Throws: the callback's error; `CancellationError` if the task is cancelled first.
    package static func value(from start: (Promise) -> Void) async throws -> Value {
        try Task.checkCancellation()
        let promise = Promise()
        start(promise)
        return try await promise.valueOrCancel()
    }
}

extension Result where Success: Sendable {
    /// The value that an asynchronous body returns, or the error that it throws.
    ///
    /// Do not use `.success(try await …)` in a tuple instead: optimized, Swift 6.3.1 loses the tuple's other members.
    package init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
