/// A dictionary of the most recently used values, up to a limit: values unused since half of them arrived are dropped first.
package struct RecentValues<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// - Parameter limit: the maximum number of values; less than 2 counts as 2.
    package init(limit: Int) { half = max(1, limit / 2) }

    package var count: Int { young.count + old.count }

    /// The value of a key, which counts as used.
    package mutating func value(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        set(value, for: key)
        return value
    }

    /// The value of a key, which does not count as used.
    package func peek(_ key: Key) -> Value? { young[key] ?? old[key] }

    package mutating func set(_ value: Value, for key: Key) {
        if young[key] == nil, young.count >= half {
            old = young
            young = [:]
        }
        old[key] = nil
        young[key] = value
    }

    /// The keys of all values, in any order.
    package var keys: [Key] { Array(young.keys) + Array(old.keys) }

    /// Changes a value in place; it does not count as used.
    package mutating func update(_ key: Key, _ change: (inout Value) -> Void) {
        if var value = young[key] {
            change(&value)
            young[key] = value
        } else if var value = old[key] {
            change(&value)
            old[key] = value
        }
    }

    /// Changes all values in place.
    package mutating func updateAll(_ change: (inout Value) -> Void) {
        young = young.mapValues { value in
            var value = value
            change(&value)
            return value
        }
        old = old.mapValues { value in
            var value = value
            change(&value)
            return value
        }
    }

    package mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }

    package mutating func removeAll() {
        young = [:]
        old = [:]
    }
}

extension RecentValues: Sendable where Key: Sendable, Value: Sendable {}
