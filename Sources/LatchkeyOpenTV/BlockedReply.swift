#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import Foundation
    @_spi(Adapters) import Latchkey

    /// An answer for which a thread of the player waits. Only the first answer counts; the deadline produces an error.
    ///
    /// The deadline uses real time, independent of the loader's clock, because a real thread is waiting. The main thread and
    /// the threads of Swift's tasks never wait, because the work on the answer may need them.
    // Sound: `result` is only accessed while the lock is held.
    nonisolated final class BlockedReply<Value: Sendable>: @unchecked Sendable {
        private let lock = NSLock()
        private let arrival = DispatchSemaphore(value: 0)
        private var result: Result<Value, ContentKeyError>?

        /// Answers.
        /// - Returns: Whether the answer counts.
        @discardableResult
        func give(_ answer: Result<Value, ContentKeyError>) -> Bool {
            let counts = lock.withLock {
                defer { result = result ?? answer }
                return result == nil
            }
            if counts { arrival.signal() }
            return counts
        }

        /// Waits for the answer.
        /// - Parameters:
        ///   - limit: How long to wait.
        ///   - stage: The stage that errors name.
        ///   - begin: Starts the work on the answer, and returns a closure that ends the work at the deadline.
        func wait(
            atMost limit: Duration, _ stage: ContentKeyError.Stage, for begin: () -> (@Sendable () -> Void)
        ) -> Result<Value, ContentKeyError> {
            if let refusal = ContentKeyError.mustNotWaitHere(stage) { return .failure(refusal) }
            let end = begin()
            let late = Result<Value, ContentKeyError>.failure(.late(stage, limit))
            if arrival.wait(timeout: .now() + limit / .seconds(1)) == .timedOut, give(late) { end() }
            return lock.withLock { result } ?? late
        }

        /// Waits for the result of a task.
        static func wait(
            atMost limit: Duration, _ stage: ContentKeyError.Stage,
            for body: @escaping @Sendable () async throws -> Value
        ) -> Result<Value, ContentKeyError> {
            let reply = BlockedReply()
            return reply.wait(atMost: limit, stage) {
                let task = Task {
                    do { reply.give(.success(try await body())) } catch {
                        reply.give(.failure(ContentKeyError(thrown: error, stage)))
                    }
                }
                return { task.cancel() }
            }
        }
    }

    /// Marks the main queue, because not every system runs it on the main thread.
    private nonisolated let mainQueue = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    nonisolated extension ContentKeyError {
        /// The reason that the current thread must not wait; `nil` if it may.
        fileprivate static func mustNotWaitHere(_ stage: Stage) -> ContentKeyError? {
            let isMain = Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueue) != nil
            guard isMain || withUnsafeCurrentTask(body: { $0 != nil }) else { return nil }
            return ContentKeyError(
                .threadMustNotWait, stage: stage,
                "The player asked on \(isMain ? "the main thread" : "a thread of Swift's tasks"), which must not wait.",
                remedy: "Make the player, or the code around the adapter, ask on a separate thread.")
        }

        fileprivate static func late(_ stage: Stage, _ limit: Duration) -> ContentKeyError {
            ContentKeyError(
                .deadlineExceeded, stage: stage,
                "The player's thread waited \(limit) for an answer.",
                remedy: "Look at the loader's events, or into the app's callback.", isRetryable: true)
        }

        /// Converts an error that the app's code threw.
        fileprivate init(thrown error: any Error, _ stage: Stage) {
            if let error = error as? ContentKeyError {
                self = error
            } else if let error = error as? IntegrationError {
                // The app read it from its service's refusal; a loader would report it in the same form.
                self.init(
                    error.kind, stage: stage, error.reason, remedy: error.remedy,
                    isRetryable: error.isRetryable, service: error.service, underlying: error)
            } else {
                self.init(
                    .integrationFailed, stage: stage, "The app's callback threw \(type(of: error)).",
                    remedy: "Look at the underlying error.", underlying: error)
            }
        }
    }
#endif
