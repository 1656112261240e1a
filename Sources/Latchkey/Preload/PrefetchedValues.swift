import LatchkeyCore

/// Values requested before they are needed. Each is used once, and only until its lifetime ends.
final class PrefetchedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    struct Prepared: Sendable {
        let value: Value
        /// When it was requested; its age counts from then.
        let asked: Duration
        /// How long it took to get.
        let took: Duration
    }

    /// The maximum number of values kept for a key; the oldest are dropped.
    private static var limit: Int { 64 }

    private let timekeeper: any Timekeeper
    private let lifetime: Duration
    private let kept = Locked<[Key: [Prepared]]>([:])

    init(_ timekeeper: any Timekeeper, lifetime: Duration) {
        self.timekeeper = timekeeper
        self.lifetime = lifetime
    }

    /// Whether values are kept at all.
    var isAllowed: Bool { lifetime > .zero }

    /// Requests a value and keeps it.
    @discardableResult
    func prepare(_ key: Key, _ ask: () async throws -> Value) async throws -> Value {
        let asked = timekeeper.uptime
        let value = try await ask()
        let now = timekeeper.uptime
        try Task.checkCancellation()
        let prepared = Prepared(value: value, asked: asked, took: now - asked)
        kept.withLock { kept in
            for other in kept.keys { kept[other]?.removeAll { now - $0.asked >= lifetime } }
            kept = kept.filter { !$0.value.isEmpty }
            kept[key] = Array((kept[key, default: []] + [prepared]).suffix(Self.limit))
        }
        return value
    }

    /// Removes and returns the oldest value that has not expired.
    func take(_ key: Key) -> Prepared? {
        let now = timekeeper.uptime
        return kept.withLock { kept in
            var values = kept.removeValue(forKey: key)?.filter { now - $0.asked < lifetime } ?? []
            let first = values.isEmpty ? nil : values.removeFirst()
            if !values.isEmpty { kept[key] = values }
            return first
        }
    }

    /// Forgets everything.
    func removeAll() { kept.withLock { $0 = [:] } }
}
