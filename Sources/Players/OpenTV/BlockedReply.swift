#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import Foundation
    import LatchkeyCore

    /// An answer that a thread of the player's waits for: the first one counts, and there is one at the deadline at the latest.
    ///
    /// The deadline runs in real time, whatever clock the loader keeps: a real thread is waiting. What works on the answer runs
    /// elsewhere, so the main thread and Swift's own threads, which may be needed for it, never wait.
    // Sound: `result` is touched only while the lock is held.
    final class BlockedReply<Value: Sendable>: @unchecked Sendable {
        private let lock = NSLock()
        private let arrival = DispatchSemaphore(value: 0)
        private var result: Result<Value, ContentKeyError>?

        /// Answers.
        /// - Returns: whether the answer counts.
        @discardableResult
        func give(_ answer: Result<Value, ContentKeyError>) -> Bool {
            let counts = lock.withLock {
                guard result == nil else { return false }
                result = answer
                return true
            }
            if counts { arrival.signal() }
            return counts
        }

        /// Waits for the answer.
        /// - Parameters:
        ///   - limit: how long.
        ///   - stage: what takes the time, for errors.
        ///   - begin: has somebody answer, and gives what ends that work when the time is over.
        func wait(
            atMost limit: Duration, _ stage: ContentKeyError.Stage, for begin: () -> (@Sendable () -> Void)
        ) -> Result<Value, ContentKeyError> {
            if let refusal = ContentKeyError.mustNotWaitHere(stage) { return .failure(refusal) }
            let end = begin()
            if arrival.wait(timeout: .now() + limit.inSeconds) == .timedOut, give(.failure(.late(stage, limit))) {
                end()
            }
            return lock.withLock { result } ?? .failure(.late(stage, limit))
        }

        /// Waits for what a task does.
        static func wait(
            atMost limit: Duration, _ stage: ContentKeyError.Stage,
            for body: @escaping @Sendable () async throws -> Value
        ) -> Result<Value, ContentKeyError> {
            let reply = BlockedReply()
            return reply.wait(atMost: limit, stage) {
                let task = Task {
                    do {
                        reply.give(.success(try await body()))
                    } catch {
                        reply.give(.failure(ContentKeyError(thrown: error, stage)))
                    }
                }
                return { task.cancel() }
            }
        }
    }

    /// Marks the main queue, which not every system runs on the main thread.
    private let mainQueue = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    extension ContentKeyError {
        /// Why the current thread must not wait; nil where it may.
        fileprivate static func mustNotWaitHere(_ stage: Stage) -> ContentKeyError? {
            let isMain = Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueue) != nil
            guard isMain || withUnsafeCurrentTask(body: { $0 != nil }) else { return nil }
            return ContentKeyError(
                .threadMustNotWait, stage: stage,
                "The player asked on \(isMain ? "the main thread" : "a thread of Swift's tasks"), which must not wait.",
                remedy: "Have the player, or the code around the adapter, ask on a thread of its own.")
        }

        fileprivate static func late(_ stage: Stage, _ limit: Duration) -> ContentKeyError {
            ContentKeyError(
                .deadlineExceeded, stage: stage, "The player's thread waited \(limit.inMilliseconds) ms for an answer.",
                remedy: "Look at the loader's events, or into the app's callback, for what took the time.",
                isRetryable: true)
        }

        /// What an app's code threw, as an error of this type.
        fileprivate init(thrown error: any Error, _ stage: Stage) {
            switch error {
            case let error as ContentKeyError: self = error
            case is CancellationError:
                self.init(.cancelled, stage: stage, "The call was cancelled.", remedy: "Ask again if it is wanted.")
            default:
                self.init(
                    .integrationFailed, stage: stage, "The app's callback threw \(type(of: error)).",
                    remedy: "Look at the underlying error.", underlying: error)
            }
        }
    }
#endif
