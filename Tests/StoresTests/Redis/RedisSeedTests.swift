import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

/// Nodes of an address of which some do not know the cluster.
@Suite(.timeLimit(.minutes(1))) struct RedisSeedTests {
    private static let noSlots = "*0\r\n"

    private func address(_ ports: [UInt16]) -> String {
        "redis+cluster://" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
    }

    private func findings(_ ports: UInt16...) async throws -> [StoreFinding] {
        await Stores.findings(at: try StoreAddress(address(ports)), for: [.sessions])
    }

    @Test func `after a node without slots the next node gives the map`() async throws {
        let (lost, member) = (try ScriptedRedis(), try ScriptedRedis())
        // The other one answers once this one has.
        let asked = DispatchSemaphore(value: 0)
        lost.answers { _ in
            asked.signal()
            return Self.noSlots
        }
        member.answers { words in
            guard words.first == "CLUSTER" else { return "*2\r\n*-1\r\n*2\r\n$1\r\n9\r\n$1\r\n0\r\n" }
            asked.wait()
            return ScriptedRedis.slots(at: member.port)
        }
        let store = try RedisRecordStore(
            RedisAddress(Secret(address([lost.port, member.port]))), limit: .seconds(30), timekeeper: ManualTimekeeper()
        )
        let map = try await store.servers.cluster?.refreshed()
        #expect(map?.primaries == [.host("127.0.0.1", port: member.port)])
    }

    @Test func `if no node gives a map, the error is the one to fix`() async throws {
        let (lost, locked) = (try ScriptedRedis { _ in Self.noSlots }, try ScriptedRedis { _ in "-NOAUTH wanted\r\n" })
        let store = try RedisRecordStore(
            RedisAddress(Secret(address([lost.port, locked.port]))), limit: .seconds(30), timekeeper: ManualTimekeeper()
        )
        let error = await #expect(throws: StoreError.self) { _ = try await store.servers.cluster?.refreshed() }
        #expect(error?.kind == .misconfigured && error?.reason.contains("NOAUTH") == true)
    }

    @Test func `the check tries the next node if one knows no slots`() async throws {
        let (lost, member) = (try ScriptedRedis(), try ScriptedRedis())
        lost.answers { $0.first == "CLUSTER" ? Self.noSlots : "+PONG\r\n" }
        member.answers { $0.first == "CLUSTER" ? ScriptedRedis.slots(at: member.port) : "+PONG\r\n" }
        let found = try await findings(lost.port, member.port)
        let first = try #require(found.first)
        #expect(
            !first.isFault && first.reason.contains(":\(lost.port): ") && first.reason.contains("knows no slots"))
        #expect(!found.contains { $0.reason.contains("slots have no primary") })
        #expect(found.contains { $0.reason.contains(":\(member.port) ") }, "The primary is looked at.")
        let alone = try await findings(lost.port)
        #expect(alone.map(\.isFault) == [true])
    }

    @Test(arguments: [
        ("PING", "-NOAUTH Authentication required.\r\n", "requires a password"),
        ("CLUSTER", "-ERR This instance has cluster support disabled\r\n", "is not a cluster node"),
        ("CLUSTER", "-NOPERM no permissions to run the 'cluster|slots' command\r\n", "CLUSTER|SLOTS"),
    ])
    func `a node's refusal does not hide that earlier nodes did not answer`(
        _ command: String, _ answer: String, _ words: String
    ) async throws {
        let node = try ScriptedRedis { $0.first == command ? answer : "+PONG\r\n" }
        let (nowhere, lost) = (
            try UnusedPort.any(), try ScriptedRedis { $0.first == "CLUSTER" ? "*0\r\n" : "+PONG\r\n" }
        )
        let found = try await findings(nowhere, lost.port, node.port)
        #expect(found.count == 3 && found.allSatisfy(\.isFault))
        for (finding, port) in zip(found, [nowhere, lost.port, node.port]) {
            #expect(finding.reason.contains(":\(port)"), "\(finding.reason)")
        }
        #expect(found.last?.reason.contains(words) == true)
    }
}
