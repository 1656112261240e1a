#if canImport(AVFoundation)
    public import Latchkey

    nonisolated extension AVPlayerKeys {
        /// A result of a key request or a session event.
        public enum Outcome: Sendable {
            /// A key was not delivered, was rejected, or ended.
            case failure(KeyFailure)
            /// An event other than a failure.
            case notice(Notice)
            /// A request ended without an effect on playback: AVFoundation cancelled it and is not asking again, or it repeats
            /// a refusal that was reported.
            case cancellation(KeyFailure)
            /// The number of later outcomes that were dropped, because too many were unread.
            case dropped(Int)
        }

        func onNotice(_ notice: Notice) { emit(.notice(notice)) }

        func onFailure(_ failure: KeyFailure) { emit(.failure(failure)) }

        func onCancelled(_ failure: KeyFailure) { emit(.cancellation(failure)) }
    }

    /// The unread outcomes. When the limit is reached, the newest are dropped and counted, and the count is delivered instead.
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
