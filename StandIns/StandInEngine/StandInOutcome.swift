import LatchkeyCore

/// A result that others wait for. It is settled once.
public final class StandInOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open([CheckedContinuation<Value, any Error>])
        case settled(Result<Value, any Error>)
    }

    private let state = Locked(State.open([]))

    /// Makes an unsettled outcome.
    public init() {}

    /// The result. Waits until it is settled.
    public var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    switch state {
                    case .settled(let result): return result
                    case .open(let waiting):
                        state = .open(waiting + [continuation])
                        return nil
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }

    /// Whether the outcome is settled.
    public var isSettled: Bool {
        state.withLock { if case .settled = $0 { true } else { false } }
    }

    /// Settles the outcome.
    /// - Returns: whether this is the first call.
    @discardableResult
    public func settle(_ result: Result<Value, any Error>) -> Bool {
        let waiting: [CheckedContinuation<Value, any Error>]? = state.withLock { state in
            guard case .open(let waiting) = state else { return nil }
            state = .settled(result)
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume(with: result) }
        return waiting != nil
    }
}
