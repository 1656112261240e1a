import LatchkeyCore

/// The readers of `changes()`.
final class AssetListeners: Sendable {
    typealias Listener = AsyncStream<[OfflineAsset]>.Continuation

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
        /// Whether a new listener got no list, because the store could not be read.
        var isBehind = false
        var isFinished = false
    }

    private let state = Locked(State())

    /// A stream that keeps the latest list for a slow reader.
    static func stream() -> (AsyncStream<[OfflineAsset]>, Listener) {
        AsyncStream.makeStream(of: [OfflineAsset].self, bufferingPolicy: .bufferingNewest(1))
    }

    /// - Parameter list: the first list to send; `nil` if it is not known yet.
    func add(_ listener: Listener, _ list: [OfflineAsset]?) {
        if let list { listener.yield(list) }
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.listeners[state.next] = listener
            state.isBehind = state.isBehind || list == nil
            return state.next
        }
        guard let number else { return listener.finish() }
        listener.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
    }

    /// Whether an unchanged list must be sent to a listener that got none.
    var isBehind: Bool { state.withLock { $0.isBehind } }

    func send(_ list: [OfflineAsset]) {
        let listeners = state.withLock { state in
            state.isBehind = false
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(list) }
    }

    /// Ends all streams immediately, and each later one when it is made.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
