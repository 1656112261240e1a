/// Elements that are added at the end and taken from both ends, each in amortized constant time.
package struct Deque<Element> {
    /// Taken elements are set to `nil`, so that they are released.
    @usableFromInline var places: [Element?] = []
    @usableFromInline var start = 0

    @inlinable package init() {}

    @inlinable package var count: Int { places.count - start }
    @inlinable package var isEmpty: Bool { count == 0 }
    @inlinable package var first: Element? { start < places.count ? places[start] : nil }
    @inlinable package var last: Element? { isEmpty ? nil : places[places.count - 1] }

    @inlinable package mutating func append(_ element: Element) { places.append(element) }

    @inlinable package mutating func popLast() -> Element? { isEmpty ? nil : places.removeLast() }

    @inlinable package mutating func popFirst() -> Element? {
        guard start < places.count else { return nil }
        let element = places[start]
        places[start] = nil
        start += 1
        if start == places.count {
            places.removeAll(keepingCapacity: true)
            start = 0
        } else if start >= 32, start * 2 >= places.count {
            // Moves the rest at most once per as many taken elements.
            places.removeFirst(start)
            start = 0
        }
        return element
    }
}

extension Deque: Sendable where Element: Sendable {}
