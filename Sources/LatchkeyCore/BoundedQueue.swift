/// The most recently appended elements, oldest first, up to a limit.
///
/// Appending to a full queue removes the oldest element. Both take constant time.
package struct BoundedQueue<Element> {
    /// The maximum number of elements, at least 1.
    package let limit: Int
    /// The elements as a ring: once it is full, the oldest one is at `start`.
    private var ring: [Element] = []
    private var start = 0

    /// - Parameter limit: the maximum number of elements; less than 1 counts as 1.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// The elements, oldest first.
    package var elements: [Element] { Array(ring[start...] + ring[..<start]) }

    /// Adds an element at the end.
    /// - Returns: the oldest element, if it was removed to make room.
    @discardableResult
    package mutating func append(_ element: Element) -> Element? {
        guard ring.count == limit else {
            ring.append(element)
            return nil
        }
        defer { start = (start + 1) % limit }
        let oldest = ring[start]
        ring[start] = element
        return oldest
    }
}

extension BoundedQueue: Sendable where Element: Sendable {}
