import LatchkeyCore

/// The preloads under way, and the keys that they wait for.
final class OpenPreloads: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    /// A key that a preloading player was asked to request.
    final class Watch: Sendable {
        let key: KeyURI
        /// Ends with the player's request.
        let answer = SharedFetch<Void>()
        private let note: Report

        init(_ key: KeyURI, _ note: @escaping Report) {
            self.key = key
            self.note = note
        }

        func see(_ event: KeyEvent.Kind) {
            note(event)
            switch event {
            case .answered: answer.end(.success(()))
            case .failed(let error, _): answer.end(.failure(error))
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

    /// How many preloads are under way.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Runs a preload, which the loader's cancellation ends too.
    func run(_ body: @escaping @Sendable () async throws -> Void) async -> Result<Void, any Error> {
        let end = SharedFetch<Void>()
        let task = startTask { end.end(await Result { try await body() }) }
        let (id, isClosed) = state.withLock { state in
            state.next += 1
            state.tasks[state.next] = task
            return (state.next, state.isClosed)
        }
        defer { state.withLock { $0.tasks[id] = nil } }
        if isClosed { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
            return await Result { try await end.value() }
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends all preloads, and lets none begin.
    func cancelAll() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Watches for the player's request for a key.
    /// - Parameter note: told what happens to the request.
    func watch(_ key: KeyURI, _ note: @escaping Report) -> Watch {
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

    /// A key request's report, which also tells whoever watches for the key.
    func watching(_ report: @escaping Report, _ key: KeyURI?) -> Report {
        guard let key else { return report }
        return { [self] event in
            report(event)
            for watch in state.withLock({ $0.watches[key] ?? [] }) { watch.see(event) }
        }
    }
}
