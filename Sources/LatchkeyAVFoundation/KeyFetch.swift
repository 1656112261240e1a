#if canImport(AVFoundation)
    import AVFoundation
    import Latchkey

    /// Gets keys through a session of its own, because a session that streams a key does not ask for it again.
    ///
    /// Whatever ends a request counts: a key, a failure, a cancellation. A request that ends without a word leaves the wait to its caller's
    /// deadline. Made for one call, which ends it however the call ends.
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

        /// Asks for keys, and hands over what became of each: `nil` if it is there.
        /// - Parameters:
        ///   - wanted: The keys.
        ///   - asset: The title that they are stored for. Defaults to `nil`: the one that needs each key.
        ///   - take: Takes each key, and why it is not there.
        /// - Throws: What `take` throws, which ends the wait; `CancellationError` if the task is cancelled or the fetch has ended.
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
                // A failure without a key is every key's, as in the simulator.
                for key in outcome.key.map({ missing.intersection([$0]) }) ?? missing {
                    missing.remove(key)
                    try take(key, outcome.failure)
                }
            }
        }

        /// Ends the requests that are still open, and lets none begin.
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
