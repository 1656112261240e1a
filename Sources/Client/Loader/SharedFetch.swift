import LatchkeyCore

/// A fetch that several callers wait for. A caller that is cancelled stops waiting; the fetch goes on for the others.
final class SharedFetch<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var next = 0
        var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
    }

    private let state = Locked(State())

    /// Whether the result is there.
    var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// Ends the fetch for all who wait and all who come later.
    func end(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.result = result
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    /// The fetch's result.
    func value() async throws -> Value {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let result: Result<Value, any Error>? = state.withLock { state in
                    if state.result == nil, !Task.isCancelled { state.waiters[id] = waiter }
                    return state.result ?? (Task.isCancelled ? .failure(CancellationError()) : nil)
                }
                if let result { waiter.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}
