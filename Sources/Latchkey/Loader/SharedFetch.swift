import LatchkeyCore

/// A value that is fetched once for all callers and kept for a time; a failed fetch is not kept.
final class SharedFetch<Value: Sendable>: Sendable {
    typealias Fetch = Promise<Value, any Error>

    private struct Current {
        let fetch: Fetch
        let task: Task<Void, Never>
        let started: Duration
    }

    private struct State {
        var current: Current?
        var isClosed = false
    }

    private let timekeeper: any Timekeeper
    private let lifetime: Duration?
    private let state = Locked(State())

    /// - Parameters:
    ///   - timekeeper: measures how old a value is.
    ///   - lifetime: how long a value is valid, from the start of its fetch; `nil` for no limit.
    init(_ timekeeper: any Timekeeper, lifetime: Duration? = nil) {
        self.timekeeper = timekeeper
        self.lifetime = lifetime
    }

    deinit { close() }

    /// Returns the current fetch, or starts one. Cancelling a waiter does not cancel the fetch.
    func current(_ fetch: @escaping @Sendable () async throws -> Value) -> Fetch {
        let now = timekeeper.uptime
        return state.withLock { state in
            if let current = state.current, lifetime.map({ now - current.started < $0 }) ?? true {
                return current.fetch
            }
            let promise = Fetch()
            guard !state.isClosed else {
                promise.resolve(.failure(ContentKeyError.cancelled))
                return promise
            }
            let task = startTask { [weak self] in
                let result = await Result { try await fetch() }
                if case .failure = result { self?.forget(promise) }
                promise.resolve(result)
            }
            state.current = Current(fetch: promise, task: task, started: now)
            return promise
        }
    }

    /// Cancels the current fetch; later callers get the error `cancelled`.
    func close() {
        let current = state.withLock { state in
            state.isClosed = true
            defer { state.current = nil }
            return state.current
        }
        current?.fetch.resolve(.failure(ContentKeyError.cancelled))
        current?.task.cancel()
    }

    /// Lets the next caller start another fetch.
    private func forget(_ promise: Fetch) {
        state.withLock { if $0.current?.fetch === promise { $0.current = nil } }
    }
}
