import LatchkeyCore

extension Locked {
    /// Runs a body when no other call runs one with the same key, so that two calls do not both do the work.
    /// - Throws: the body's error; `CancellationError` if the task is cancelled while it waits.
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
    /// - Returns: the promise to wait for; `nil` if the key was free, and is now taken.
    fileprivate mutating func enter(_ key: Key, _ promise: Value) -> Value? {
        if let other = self[key] { return other }
        self[key] = promise
        return nil
    }
}
