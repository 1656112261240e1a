import LatchkeyCore

/// What is fetched once for all who ask, and kept for a time; a failed fetch is not kept.
final class KeptFetch<Value: Sendable>: Sendable {
    private typealias Kept = (shared: SharedFetch<Value>, task: Task<Void, Never>, started: Duration)

    private struct State {
        var kept: Kept?
        var isClosed = false
    }

    private let timekeeper: any Timekeeper
    private let lifetime: Duration?
    private let state = Locked(State())

    /// - Parameters:
    ///   - timekeeper: measures how long a value was kept.
    ///   - lifetime: how long a value is good, from the start of its fetch; nil for ever.
    init(_ timekeeper: any Timekeeper, lifetime: Duration? = nil) {
        self.timekeeper = timekeeper
        self.lifetime = lifetime
    }

    deinit { close() }

    /// The fetch that holds, or a new one. Its task belongs to the keeper, not to who asks, so that who is cancelled takes
    /// nobody's value.
    func shared(_ fetch: @escaping @Sendable () async throws -> Value) -> SharedFetch<Value> {
        let now = timekeeper.uptime
        return state.withLock { state in
            if let kept = state.kept, lifetime.map({ now - kept.started < $0 }) ?? true { return kept.shared }
            let shared = SharedFetch<Value>()
            guard !state.isClosed else {
                shared.end(.failure(ContentKeyError.cancelled))
                return shared
            }
            let task = startTask { [weak self] in
                let result = await Result { try await fetch() }
                if case .failure = result { self?.forget(shared) }
                shared.end(result)
            }
            state.kept = (shared, task, now)
            return shared
        }
    }

    /// Ends the fetch under way, and lets none begin.
    func close() {
        let kept = state.withLock { state in
            state.isClosed = true
            defer { state.kept = nil }
            return state.kept
        }
        kept?.shared.end(.failure(ContentKeyError.cancelled))
        kept?.task.cancel()
    }

    /// The next who asks tries anew.
    private func forget(_ shared: SharedFetch<Value>) {
        state.withLock { if $0.kept?.shared === shared { $0.kept = nil } }
    }
}
