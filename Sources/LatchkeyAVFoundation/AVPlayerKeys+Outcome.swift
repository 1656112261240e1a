#if canImport(AVFoundation)
    public import Latchkey

    nonisolated extension AVPlayerKeys {
        /// What happened to the keys, for whoever owns them.
        public enum Outcome: Sendable {
            /// A key did not come, was not taken, or ended.
            case failure(KeyFailure)
            /// What an app may want to know beyond failures.
            case notice(Notice)
            /// A request ended with nothing to show: AVFoundation cancelled it and is not asking again, or it repeats a refusal that was
            /// reported.
            case cancellation(KeyFailure)
            /// This many later outcomes did not fit, because none were read for too long.
            case dropped(Int)
        }

        func onNotice(_ notice: Notice) { emit(.notice(notice)) }

        func onFailure(_ failure: KeyFailure) { emit(.failure(failure)) }

        func onCancelled(_ failure: KeyFailure) { emit(.cancellation(failure)) }
    }

    /// The outcomes that wait to be read. When they are too many the newest are dropped and counted, and the count is read in their place.
    nonisolated final class UnreadOutcomes: Sendable {
        static let limit = 256

        let stream: AsyncStream<AVPlayerKeys.Outcome>
        private let continuation: AsyncStream<AVPlayerKeys.Outcome>.Continuation
        private let dropped = Locked(0)

        init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit)) }

        func add(_ outcome: AVPlayerKeys.Outcome) {
            dropped.withLock { dropped in
                if dropped > 0, case .enqueued = continuation.yield(.dropped(dropped)) { dropped = 0 }
                if case .dropped = continuation.yield(outcome) { dropped += 1 }
            }
        }

        func finish() { continuation.finish() }
    }
#endif
