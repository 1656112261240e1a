import LatchkeyCore

/// A reply that is waited for once and taken once, however often it is given.
package final class SingleReply<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var continuation: CheckedContinuation<Value, any Error>?
    }

    private let state = Locked(State())

    package init() {}

    /// The first reply after a call; a `CancellationError` where the task is cancelled before.
    package func value(from call: () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let early = state.withLock { state in
                    state.continuation = state.result == nil ? continuation : nil
                    return state.result
                }
                if let early { return continuation.resume(with: early) }
                call()
            }
        } onCancel: {
            give(.failure(CancellationError()))
        }
    }

    package func give(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
