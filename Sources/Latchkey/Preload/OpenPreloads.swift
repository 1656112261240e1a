import LatchkeyCore

/// The running preloads, and the keys that they wait for.
final class OpenPreloads: Sendable {
    /// A key that a preloading player was asked to request.
    final class Watch: Sendable {
        let key: KeyURI
        /// Resolved when the player's request ends.
        let answer = Promise<PreloadResult.Outcome, any Error>()
        private let note: Trace.Sink

        init(_ key: KeyURI, _ note: @escaping Trace.Sink) {
            self.key = key
            self.note = note
        }

        func see(_ event: KeyEvent.Kind) {
            note(event)
            switch event {
            case .answered: answer.resolve(.success(.prepared))
            case .heldBySystem: answer.resolve(.success(.skipped(.heldBySystem)))
            case .failed(let error, _): answer.resolve(.failure(error))
            default: break
            }
        }
    }

    private struct State {
        var next = 0
        var isClosed = false
        var tasks: [Int: Task<Void, Never>] = [:]
        var watches: [KeyURI: [Watch]] = [:]
    }

    private let state = Locked(State())

    /// How many preloads are running.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Runs a preload. Cancelling the loader also cancels it.
    func run(_ body: @escaping @Sendable () async throws -> Void) async -> Result<Void, any Error> {
        let end = Promise<Void, any Error>()
        let task = startTask { end.resolve(await Result { try await body() }) }
        let (id, isClosed) = state.withLock { state in
            state.next += 1
            state.tasks[state.next] = task
            return (state.next, state.isClosed)
        }
        defer { state.withLock { $0.tasks[id] = nil } }
        if isClosed { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
            return await Result { try await end.value }
        } onCancel: {
            task.cancel()
        }
    }

    /// Cancels all preloads, and each later one.
    func cancelAll() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Watches for the player's request for a key.
    /// - Parameter note: called with the events of the request.
    func watch(_ key: KeyURI, _ note: @escaping Trace.Sink) -> Watch {
        let watch = Watch(key, note)
        state.withLock { $0.watches[key, default: []].append(watch) }
        return watch
    }

    func unwatch(_ watch: Watch) {
        state.withLock { state in
            state.watches[watch.key]?.removeAll { $0 === watch }
            if state.watches[watch.key]?.isEmpty == true { state.watches[watch.key] = nil }
        }
    }

    /// Sees the events of a key's requests, and forwards them to the preloads that wait for the key.
    func observer(of key: KeyURI?) -> Trace.Sink {
        guard let key else { return { _ in } }
        return { [self] event in
            for watch in state.withLock({ $0.watches[key] ?? [] }) { watch.see(event) }
        }
    }
}
