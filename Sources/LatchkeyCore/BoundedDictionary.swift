/// A dictionary of the most recently added keys, up to a limit. Adding a key beyond the limit removes the oldest one.
package struct BoundedDictionary<Key: Hashable, Value> {
    private var values: [Key: Value] = [:]
    private var order: BoundedQueue<Key>

    /// - Parameter limit: the maximum number of keys; less than 1 counts as 1.
    package init(limit: Int) { order = BoundedQueue(limit: limit) }

    /// The value of a key; `nil` if the key is missing or was removed.
    package subscript(_ key: Key) -> Value? { values[key] }

    /// Sets the value of a key. An existing key keeps its place in the order.
    /// - Returns: the value before; `nil` for a new key.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let before = values.updateValue(value, forKey: key)
        if before == nil, let oldest = order.append(key) { values[oldest] = nil }
        return before
    }

    /// Changes the value of a key in place.
    /// - Parameter value: the initial value of a new key.
    package mutating func change(
        _ key: Key, startingWith value: @autoclosure () -> Value, _ body: (inout Value) -> Void
    ) {
        if values[key] == nil { updateValue(value(), forKey: key) }
        body(&values[key, default: value()])
    }
}

extension BoundedDictionary: Sendable where Key: Sendable, Value: Sendable {}
