import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

/// Changes in a cluster whose answers did not come.
@Suite(.timeLimit(.minutes(1))) struct RedisRetryTests {
    /// Two nodes: the first has all slots, accepts a change and dies before it answers, and the second takes over.
    private final class Failover: Sendable {
        let clock = ManualTimekeeper()
        let first: ScriptedRedis
        let second: ScriptedRedis
        let store: RedisRecordStore

        /// - Parameter isReplaced: whether the second takes over. Defaults to yes.
        init(isReplaced: Bool = true) throws {
            let (first, second) = (try ScriptedRedis(), try ScriptedRedis())
            (self.first, self.second) = (first, second)
            let (clock, owner) = (clock, Locked(first.port))
            first.answers { words in
                switch words.first {
                case "CLUSTER": return ScriptedRedis.slots(at: owner.withLock { $0 })
                case "EVALSHA":
                    if isReplaced { owner.withLock { $0 = second.port } }
                    // The known map is too old now.
                    clock.advance(by: .milliseconds(30))
                    return nil
                default: return "*2\r\n$1\r\n1\r\n$1\r\n0\r\n"
                }
            }
            second.answers { words in
                words.first == "CLUSTER" ? ScriptedRedis.slots(at: owner.withLock { $0 }) : ":1\r\n"
            }
            let address = "redis+cluster://127.0.0.1:\(first.port),127.0.0.1:\(second.port)"
            store = try RedisRecordStore(RedisAddress(Secret(address)), limit: .seconds(30), timekeeper: clock)
        }
    }

    private static let token = RecordKey(.token, tenant: "acme", name: "t")
    private static let record = Record(version: 7, bytes: [1])

    private func write(_ store: RedisRecordStore) async throws -> Bool {
        try await store.write(Self.record, at: Self.token, replacing: nil, until: Date(timeIntervalSince1970: 100))
    }

    @Test func `a write without an answer is marked as a retry at the primary that took over`() async throws {
        let nodes = try Failover()
        // The map is known before, so that a takeover is noticed.
        _ = try await nodes.store.servers.cluster?.refreshed()
        #expect(try await write(nodes.store))
        #expect(nodes.first.commands.map(\.last) == [""])
        #expect(nodes.second.commands.map(\.last) == ["again"])
    }

    @Test(arguments: [token, RecordKey(.account, tenant: "acme", name: "anna")])
    func `a removal without an answer is not retried`(_ key: RecordKey) async throws {
        let nodes = try Failover()
        _ = try await nodes.store.servers.cluster?.refreshed()
        #expect(await errorKind { _ = try await nodes.store.remove(key, version: 7) } == .unavailable)
        #expect(nodes.first.commands.count == 1 && nodes.second.commands.isEmpty)
    }

    @Test func `nothing is retried at a primary without a successor`() async throws {
        let nodes = try Failover(isReplaced: false)
        // The first call of all, before a map is known, and one that knows it.
        for _ in 0..<2 { #expect(await errorKind { _ = try await write(nodes.store) } == .unavailable) }
        #expect(nodes.first.commands.count == 2)
        #expect(nodes.second.commands.isEmpty)
    }
}

/// The scripts' handling of a repeated call, in a real Redis.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisRetryScriptTests {
    @Test func `a retried write recognizes its own work and overwrites no other's`() async throws {
        let store = try await RedisProcess.shared.value.store()
        let key = RecordKey(.token, tenant: "again-\(UUID())", name: "t")
        func write(_ version: String, _ bytes: String, replacing former: String, _ again: String) async throws -> Bool {
            let arguments = [former, version, bytes, "99999999999999", again].map { Array($0.utf8) }
            let call = RedisRecordStore.ScriptCall(keys: store.layout.keys(of: key), arguments: arguments)
            return try await store.run(.write, [call], on: .writes).first?.first.checked() == .integer(1)
        }
        #expect(try await write("5", "mine", replacing: "", ""))
        #expect(try await !write("5", "mine", replacing: "", ""), "Only who says so comes again.")
        #expect(try await write("5", "mine", replacing: "", "again"))
        #expect(try await !write("5", "other", replacing: "", "again"))
        #expect(try await !write("6", "mine", replacing: "", "again"))
        #expect(try await store.read(key).record == Record(version: 5, bytes: Array("mine".utf8)))
        // The first call came nowhere.
        #expect(try await write("8", "next", replacing: "5", "again"))
        #expect(try await store.read(key).record == Record(version: 8, bytes: Array("next".utf8)))
    }
}
