import StandInEngine

/// A value that a script provides later. Represents the class of NitroModules.
public final class Promise<T: Sendable>: Sendable {
    private let outcome = StandInOutcome<T>()

    public init() {}

    public func resolve(withResult result: T) { outcome.settle(.success(result)) }
    public func reject(withError error: any Error) { outcome.settle(.failure(error)) }
    public func await() async throws -> T { try await outcome.value }
}
