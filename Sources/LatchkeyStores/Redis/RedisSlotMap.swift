import LatchkeySystem

/// Which node of a cluster has which slots.
struct RedisSlotMap: Sendable {
    private(set) var primaries: [RedisAddress.Endpoint] = []
    private(set) var replicas: Set<RedisAddress.Endpoint> = []
    /// The index of each slot's primary; -1 for none.
    private var owners = [Int32](repeating: -1, count: RedisSlot.count)
    /// The rank of each primary by its first slot. Nodes list primaries in any order, and a replica that takes over keeps its rank.
    private var ranks: [Int] = []

    init() {}

    /// - Parameters:
    ///   - answer: the answer to `CLUSTER SLOTS`: first and last slot, the primary, its replicas; each node with host and port first.
    ///   - asked: the node that answered.
    /// - Throws: `StoreError` for any other answer, and for one without any slot, as from a node that is not in a cluster yet, or any more.
    init(_ answer: RESPValue, from asked: RedisAddress.Endpoint) throws(StoreError) {
        guard let ranges = answer.elements else { throw Self.noMap }
        guard !ranges.isEmpty else { throw Self.noSlots }
        for range in ranges {
            guard let parts = range.elements, parts.count > 2, case .integer(let first) = parts[0],
                case .integer(let last) = parts[1], first >= 0, first <= last, last < Int64(RedisSlot.count),
                let primary = Self.place(parts[2], asked)
            else { throw Self.noMap }
            let owner = index(of: primary)
            for slot in Int(first)...Int(last) { owners[slot] = owner }
            for replica in parts[3...].compactMap({ Self.place($0, asked) }) { replicas.insert(replica) }
        }
        var next = 0
        ranks = Array(repeating: -1, count: primaries.count)
        for owner in owners.lazy.map(Int.init) where owner >= 0 && ranks[owner] < 0 {
            ranks[owner] = next
            next += 1
        }
    }

    private static let noMap = StoreError.redis(
        "A cluster node does not report its slots.", .misconfigured,
        remedy: "Check that the address belongs to a cluster.")

    private static let noSlots = StoreError.redis(
        "A cluster node knows no slots.",
        remedy: "Run redis-cli --cluster check; join the node to the cluster, or give the cluster its slots.")

    private static func place(_ node: RESPValue, _ asked: RedisAddress.Endpoint) -> RedisAddress.Endpoint? {
        guard let parts = node.elements, parts.count > 1, case .integer(let number) = parts[1],
            let port = UInt16(exactly: number)
        else { return nil }
        return RedisAddress.Endpoint(parts[0].text ?? "", port, from: asked)
    }

    private mutating func index(of primary: RedisAddress.Endpoint) -> Int32 {
        if let index = primaries.firstIndex(of: primary) { return Int32(clamping: index) }
        primaries.append(primary)
        ranks.append(ranks.count)
        return Int32(clamping: primaries.count - 1)
    }

    /// The slot's primary; `nil` if it has none.
    subscript(slot: RedisSlot) -> RedisAddress.Endpoint? {
        let owner = Int(owners[slot.number])
        return owner < 0 ? nil : primaries[owner]
    }

    /// The rank of the slot's primary by its first slot, from 0; -1 if it has none.
    func rank(of slot: RedisSlot) -> Int {
        let owner = Int(owners[slot.number])
        return owner < 0 ? -1 : ranks[owner]
    }

    /// Notes a slot's new primary.
    mutating func move(_ slot: RedisSlot, to primary: RedisAddress.Endpoint) {
        owners[slot.number] = index(of: primary)
    }

    /// How many slots have no primary.
    var uncovered: Int { owners.count { $0 < 0 } }
}
