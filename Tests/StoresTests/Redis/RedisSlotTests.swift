import LatchkeySystem
import LatchkeyVault
import Testing

@testable import LatchkeyStores

/// The slot of a key in a cluster, and the nodes' answers about it.
@Suite(.timeLimit(.minutes(1))) struct RedisSlotTests {
    /// Source: the specification of Redis Cluster, and `CLUSTER KEYSLOT` of Redis 7.0.15.
    @Test func `a key is in the slot that Redis names`() {
        #expect(RedisSlot.crc("123456789".utf8) == 0x31c3)
        for (key, slot) in [("foo", 12_182), ("bar", 5_061), ("", 0), ("{foo}x", 12_182), ("a{foo}{bar}", 12_182)] {
            #expect(RedisSlot(of: key).number == slot, "\(key)")
        }
        // An empty tag does not count.
        #expect(RedisSlot(of: "foo{}{bar}") != RedisSlot(of: "bar"))
    }

    @Test(arguments: [("acme", "anna"), ("ac}me", "a{n}na"), ("}", "}"), ("{", "é")])
    func `an account and the sets of its shard are in one slot`(_ tenant: String, _ name: String) {
        let keys = RedisLayout.cluster.keys(of: RecordKey(.account, tenant: tenant, name: name))
        #expect(keys.count == 3 && Set(keys).count == 3)
        #expect(Set(keys.map { RedisSlot(of: $0) }).count == 1)
    }

    @Test func `accounts are spread over the primaries`() {
        let thirds = (0..<30_000).reduce(into: [0, 0, 0]) { counts, number in
            let key = RedisLayout.cluster.record(RecordKey(.account, tenant: "acme", name: "viewer-\(number)"))
            counts[RedisSlot(of: key).number * 3 / RedisSlot.count] += 1
        }
        #expect(thirds.allSatisfy { (9_500...10_500).contains($0) }, "\(thirds)")
    }

    /// They are in the databases of installations with one server.
    @Test func `names on one server match earlier versions`() {
        let key = RecordKey(.account, tenant: "acme", name: "anna")
        #expect(
            RedisLayout.server.keys(of: key) == [
                "latchkey:account:{acme:anna}", "latchkey:count:account:{acme}", "latchkey:names:account:{acme}",
            ])
    }

    private static func node(_ host: String, _ port: Int64) -> RESPValue {
        .list([.bulk(Array(host.utf8)), .integer(port), .bulk(Array("id".utf8)), .list([])])
    }

    @Test func `the map has the nodes' answers and later moves`() throws {
        let asked = RedisAddress.Endpoint.host("seed", port: 1)
        let answer = RESPValue.list([
            .list([.integer(0), .integer(8_191), Self.node("a", 7_000), Self.node("c", 7_002)]),
            .list([.integer(8_192), .integer(16_000), Self.node("", 7_001)]),
        ])
        var map = try RedisSlotMap(answer, from: asked)
        #expect(map.primaries == [.host("a", port: 7_000), .host("seed", port: 7_001)])
        #expect(map.replicas == [.host("c", port: 7_002)])
        #expect(map[RedisSlot(number: 8_191)] == .host("a", port: 7_000))
        #expect(map[RedisSlot(number: 8_192)] == .host("seed", port: 7_001))
        #expect(map[RedisSlot(number: 16_001)] == nil && map.uncovered == 383)
        #expect([0, 8_191, 8_192, 16_001].map { map.rank(of: RedisSlot(number: $0)) } == [0, 0, 1, -1])
        map.move(RedisSlot(number: 16_001), to: .host("c", port: 7_002))
        #expect(map[RedisSlot(number: 16_001)] == .host("c", port: 7_002) && map.uncovered == 382)
        #expect(map.rank(of: RedisSlot(number: 16_001)) == 2)
    }

    @Test func `primaries rank by their slots, and a replica that takes over keeps the rank`() throws {
        let ranges = [
            RESPValue.list([.integer(9), .integer(16_383), Self.node("b", 1)]),
            .list([.integer(0), .integer(8), Self.node("a", 1)]),
        ]
        let after = RESPValue.list([ranges[0], .list([.integer(0), .integer(8), Self.node("c", 1)])])
        for answer in [.list(ranges), .list(ranges.reversed()), after] {
            let map = try RedisSlotMap(answer, from: .host("a", port: 1))
            #expect([0, 8, 9, 16_383].map { map.rank(of: RedisSlot(number: $0)) } == [0, 0, 1, 1])
        }
    }

    @Test(arguments: [
        RESPValue.bulk(nil), .list(nil), .list([]), .list([.integer(1)]),
        .list([.list([.integer(5), .integer(4), node("a", 1)])]),
        .list([.list([.integer(0), .integer(16_384), node("a", 1)])]),
        .list([.list([.integer(0), .integer(1), node("a", 70_000)])]),
        .list([.list([.integer(-1), .integer(1), node("a", 1)])]),
        .list([.list([.integer(0), .integer(-1), node("a", 1)])]),
        .list([.list([.integer(.min), .integer(.min), node("a", 1)])]),
    ])
    func `another form is refused`(_ answer: RESPValue) {
        #expect(throws: StoreError.self) { try RedisSlotMap(answer, from: .host("a", port: 1)) }
    }
}
