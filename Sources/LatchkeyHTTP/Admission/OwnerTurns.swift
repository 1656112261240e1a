import LatchkeyCore

/// Work that waits, by owners, such as tenants: they take turns, however much one of them has.
///
/// An owner alone has all turns, and its work is first come, first served.
///
/// Source: `Documentation/Server/Tenants.md`.
struct OwnerTurns<Owner: Hashable & Sendable, Element: Sendable>: Sendable {
    private struct Flow: Sendable {
        let owner: Owner
        var waiting = Deque<Element>()
        /// The turn at which it is served next. A new one begins after the turn that was served last: it saves nothing up, and one with
        /// little work each time gets no more turns than the others.
        var turn: UInt64
    }

    /// Those with work, in the order in which they came.
    private var flows: [Flow] = []
    private var turn: UInt64 = 0

    /// How much waits.
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }

    /// The oldest of each owner.
    var oldest: [Element] { flows.compactMap { $0.waiting.first } }
    /// The oldest and the newest of the owner whose turn it is.
    var first: Element? { next.flatMap { flows[$0].waiting.first } }
    var last: Element? { next.flatMap { flows[$0].waiting.last } }

    mutating func append(_ element: Element, of owner: Owner) {
        count += 1
        let place = flows.firstIndex { $0.owner == owner } ?? flows.endIndex
        if place == flows.endIndex { flows.append(Flow(owner: owner, turn: turn + 1)) }
        flows[place].waiting.append(element)
    }

    /// Takes the oldest or the newest of the owner whose turn it is, which has had its turn then.
    mutating func take(newest: Bool) -> Element? {
        guard let place = next else { return nil }
        turn = flows[place].turn
        flows[place].turn += 1
        return pop(place, newest: newest)
    }

    /// Takes the oldest of the owner whose turn it is out of the line. It has its turn still.
    mutating func removeOldest() -> Element? { next.flatMap { pop($0, newest: false) } }

    /// Takes the newest of the owner that has most out of the line.
    /// - Parameter owner: one that has to have less than that, with one piece more than it has; `nil` for any.
    mutating func removeNewest(besides owner: Owner? = nil) -> Element? {
        guard let place = flows.indices.max(by: { flows[$0].waiting.count < flows[$1].waiting.count }) else {
            return nil
        }
        if let owner {
            let own = flows.first { $0.owner == owner }?.waiting.count ?? 0
            guard flows[place].waiting.count > own + 1 else { return nil }
        }
        return pop(place, newest: true)
    }

    private var next: Int? { flows.indices.min { flows[$0].turn < flows[$1].turn } }

    private mutating func pop(_ place: Int, newest: Bool) -> Element? {
        let element = newest ? flows[place].waiting.popLast() : flows[place].waiting.popFirst()
        if element != nil { count -= 1 }
        if flows[place].waiting.isEmpty { flows.remove(at: place) }
        return element
    }
}
