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

        /// Waits until all keys are there.
        /// - Parameters:
        ///   - wanted: The keys.
        ///   - asset: The title that they are stored for. Defaults to `nil`: the one that needs each key.
        /// - Throws: The first failure; `CancellationError` if the task is cancelled or the fetch has ended.
        func get(_ wanted: Set<KeyURI>, for asset: AssetID? = nil) async throws {
            let (outcomes, continuation) = AsyncStream<Result<KeyURI, any Error>>.makeStream()
            let keys = AVPlayerKeys(loader, options: options) { notice in
                switch notice {
                case .succeeded(let key, _): continuation.yield(.success(key))
                case .streamedInstead: continuation.yield(.failure(ContentKeyError.notPersistable))
                default: break
                }
            } onFailure: { failure in
                continuation.yield(.failure(failure.loaderError ?? failure.error))
            } onCancelled: { error in
                continuation.yield(.failure(error))
            }
            try begin(keys)
            for key in wanted { keys.preload(key, as: asset) }
            var missing = wanted
            var iterator = outcomes.makeAsyncIterator()
            while !missing.isEmpty {
                guard let outcome = await iterator.next() else { throw CancellationError() }
                missing.remove(try outcome.get())
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
