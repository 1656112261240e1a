#if canImport(AVFoundation)
    import AVFoundation
    import Latchkey

    /// Gets keys through its own session, because a session that streams a key does not request it again.
    ///
    /// Any end of a request counts: a key, a failure, a cancellation. If AVFoundation reports nothing, the caller's deadline
    /// ends the wait. Made for one call, which ends it in every case.
    nonisolated final class KeyFetch: Sendable {
        private struct State {
            var keys: AVPlayerKeys?
            var hasEnded = false
        }

        private let loader: ContentKeyLoader
        private let options: AVPlayerKeys.Options
        private let state = Locked(State())

        init(_ loader: ContentKeyLoader, _ options: AVPlayerKeys.Options) {
            self.loader = loader
            self.options = options
        }

        /// Requests keys and delivers the result of each: `nil` on success.
        /// - Parameters:
        ///   - wanted: The keys.
        ///   - asset: The title for which they are stored. Defaults to `nil`: the title that needs each key.
        ///   - take: Receives each key and its error.
        /// - Throws: The error of `take`, which ends the wait; `CancellationError` if the task is cancelled or the fetch has ended.
        func get(
            _ wanted: Set<KeyURI>, for asset: AssetID? = nil, _ take: (KeyURI, KeyFailure?) throws -> Void
        ) async throws {
            let (outcomes, continuation) = AsyncStream<(key: KeyURI?, failure: KeyFailure?)>.makeStream()
            let keys = AVPlayerKeys(loader, options: options) { outcome in
                switch outcome {
                case .notice(.succeeded(let key, _)): continuation.yield((key, nil))
                case .notice(.streamedInstead(let key)):
                    continuation.yield((key, KeyFailure(.notPersistable, key: key)))
                case .failure(let failure), .cancellation(let failure): continuation.yield((failure.key, failure))
                case .notice, .dropped: break
                }
            }
            try begin(keys)
            for key in wanted { keys.preload(key, as: asset) }
            var missing = wanted
            var iterator = outcomes.makeAsyncIterator()
            while !missing.isEmpty {
                guard let outcome = await iterator.next() else { throw CancellationError() }
                // A failure without a key applies to all keys, as in the simulator.
                for key in outcome.key.map({ missing.intersection([$0]) }) ?? missing {
                    missing.remove(key)
                    try take(key, outcome.failure)
                }
            }
        }

        /// Ends the open requests and prevents new ones.
        func end() {
            let keys = state.withLock { state in
                defer { state = State(hasEnded: true) }
                return state.keys
            }
            keys?.release()
        }

        private func begin(_ keys: AVPlayerKeys) throws {
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.keys = keys }
                return state.hasEnded
            }
            if hasEnded { throw CancellationError() }
        }
    }
#endif
