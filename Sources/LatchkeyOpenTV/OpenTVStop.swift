#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import Foundation

    /// When and how playback stops because the app's session service fails.
    public nonisolated struct OpenTVStop: Sendable {
        let limit: Int
        let stop: @Sendable () -> Void

        /// Playback does not stop; the app decides how to handle a failure.
        public static let never = OpenTVStop(limit: .max) {}

        /// Stops after a number of consecutive failed licenses and heartbeats. A success resets the count.
        /// - Parameters:
        ///   - failures: The number; values below 1 count as 1.
        ///   - stop: Stops the player. Called once, on any thread, which it must not block.
        public static func after(_ failures: Int, _ stop: @escaping @Sendable () -> Void) -> OpenTVStop {
            OpenTVStop(limit: max(1, failures), stop: stop)
        }
    }

    /// Counts consecutive failures.
    // Sound: all mutable state is only accessed while the lock is held.
    nonisolated final class FailureCount: @unchecked Sendable {
        private let policy: OpenTVStop
        private let lock = NSLock()
        private var count = 0
        private var hasStopped = false

        init(_ policy: OpenTVStop) { self.policy = policy }

        func reset() { lock.withLock { count = 0 } }

        func add() {
            let stops = lock.withLock {
                count += 1
                guard count >= policy.limit, !hasStopped else { return false }
                hasStopped = true
                return true
            }
            if stops { policy.stop() }
        }
    }
#endif
