import LatchkeyCore

extension Locked {
    /// Does something when no other call does it with the same key, so that two calls do not both do it.
    /// - Throws: what the body throws; `CancellationError` if the task is cancelled while it waits.
    func alone<Key: Hashable, Outcome>(
        with key: Key, _ body: () async throws -> Outcome
    ) async throws -> Outcome where Value == [Key: Promise<Void, Never>] {
        let mine = Promise<Void, Never>()
        while let other = withLock({ $0.enter(key, mine) }) { try await other.value }
        defer {
            withLock { $0[key] = nil }
            mine.resolve(.success(()))
        }
        return try await body()
    }
}

extension Dictionary where Value == Promise<Void, Never> {
    /// - Returns: what to wait for; `nil` if the key is free, and is taken now.
    fileprivate mutating func enter(_ key: Key, _ promise: Value) -> Value? {
        if let other = self[key] { return other }
        self[key] = promise
        return nil
    }
}
