/// Runs a body against a deadline, and returns at the deadline even if the body ignores its cancellation.
///
/// A task group would wait for the body, and a call to an app, a player or a remote host may never return. At the deadline the body's task
/// is cancelled; it ends when its code does.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ timekeeper: any Timekeeper, expired: @escaping @Sendable () -> any Error,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    // The tasks below do not inherit a cancellation, and would begin before it is passed on.
    try Task.checkCancellation()
    guard limit > .zero else { throw expired() }
    let promise = Promise<Value, any Error>()
    let work = startTask { promise.resolve(await Result { try await body() }) }
    let timer = startTask {
        guard (try? await timekeeper.sleep(for: limit)) != nil else { return }
        promise.resolve(.failure(expired()))
    }
    // Before the caller waits, so that the cancelled body sends nothing more once the caller resumes.
    promise.whenResolved { _ in
        work.cancel()
        timer.cancel()
    }
    return try await promise.valueOrCancel()
}
