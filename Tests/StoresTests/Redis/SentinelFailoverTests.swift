import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import LatchkeySystem
@testable import StoreProcesses

/// A primary that is killed, with a real sentinel that makes its replica the primary.
@Suite(.timeLimit(.minutes(2)), .serialized, .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct SentinelFailoverTests {
    private func write(_ name: String, to store: RedisRecordStore) async throws -> Bool {
        let key = RecordKey(.token, tenant: "demo", name: name)
        return try await store.write(
            Record(version: 1, bytes: [1]), at: key, replacing: nil, until: Date(timeIntervalSinceNow: 1_000))
    }

    /// The names of the missing records.
    private func missing(_ names: [String], from store: RedisRecordStore) async throws -> [String] {
        var missing: [String] = []
        for name in names {
            let reading = try await store.read(RecordKey(.token, tenant: "demo", name: name))
            if reading.record == nil { missing.append(name) }
        }
        return missing
    }

    @Test func `the store finds the new primary, and loses only unreplicated writes`() async throws {
        let group = try await SentinelGroup()
        let (store, careful) = (try group.store(), try group.store(replicas: .init(1, within: .seconds(20))))
        let names = (0..<10).map { "confirmed-\($0)" }
        for name in names { #expect(try await write(name, to: careful)) }

        try await group.cutReplica()
        let alone = (0..<10).map { "alone-\($0)" }
        for name in alone { #expect(try await write(name, to: store)) }
        let impatient = try group.store(replicas: .init(1, within: .milliseconds(1)))
        #expect(await errorKind { _ = try await write("refused", to: impatient) } == .unavailable)

        try await group.failOver()
        #expect(try await missing(names, from: careful) == [])
        #expect(try await missing(alone, from: store) == alone)
        #expect(try await write(alone[0], to: store))
        #expect(try await missing([alone[0]], from: careful) == [])
    }

    @Test func `a sentinel that names a dead primary is skipped`() async throws {
        let group = try await SentinelGroup()
        let (folder, port) = (try TemporaryFolder(), try UnusedPort.any())
        let cutOff = try await SentinelGroup.sentinel(in: folder, port: port, of: UnusedPort.any())
        #expect(try await write("a", to: group.store(after: port)))
        withExtendedLifetime((cutOff, folder)) {}
    }
}
