import LatchkeyCore

/// A result that others wait for. It is settled once.
public final class StandInOutcome<Value: Sendable>: Sendable {
    private let result = Promise<Value, any Error>()

    /// Makes an unsettled outcome.
    public init() {}

    /// The result. Waits until it is settled, or the waiting task is cancelled.
    public var value: Value {
        get async throws { try await result.value }
    }

    /// Whether the outcome is settled.
    public var isSettled: Bool { result.outcome != nil }

    /// Settles the outcome.
    /// - Returns: whether this is the first call.
    @discardableResult
    public func settle(_ result: Result<Value, any Error>) -> Bool { self.result.resolve(result) }
}
