import LatchkeyCore

extension ContentKeyLoader {
    /// Ends a call that waits for a player, whether or not the player answers.
    ///
    /// The limit is the deadline of a key and one attempt's timeout, so that the loader's own error, which says more, comes first. The body
    /// is cancelled at the limit, and is no longer awaited.
    /// - Parameters:
    ///   - nothing: the result that is missing, as the beginning of a sentence that the limit ends.
    ///   - kind: the kind for an error that the body throws and that is not one of Latchkey's.
    ///   - body: the work to wait for.
    /// - Throws: the body's error; `deadlineExceeded` at the limit; `cancelled` as soon as the task is cancelled.
    package func withinDeadline<Value: Sendable>(
        _ nothing: String, otherwise kind: ContentKeyError.Kind, _ body: @escaping @Sendable () async throws -> Value
    ) async throws(ContentKeyError) -> Value {
        let limit = caller.configuration.retry.deadline + caller.configuration.retry.attemptTimeout
        do {
            return try await withDeadline(
                limit, caller.timekeeper,
                expired: {
                    ContentKeyError(.deadlineExceeded, "\(nothing) within \(limit.inWords).", isRetryable: true)
                }, body)
        } catch {
            throw ContentKeyError(error, otherwise: kind)
        }
    }
}
