import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyLicensing
import LatchkeyTesting
import LatchkeyVault
import TLSPeer
import Testing

@testable import LatchkeyStores
@testable import LatchkeySystem
@testable import StoreProcesses

/// A cluster of six real processes, some of which die, hang, or hand slots over.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisClusterTests {
    private func key(_ name: String) -> RecordKey { RecordKey(.account, tenant: "acme", name: name) }

    /// A name whose account is on a node.
    private func name(on node: Int, _ group: RedisClusterGroup, _ start: String = "viewer") throws -> String {
        let map = try group.map(by: node)
        return try #require(
            (0..<1_000).map { "\(start)-\($0)" }.first {
                map[RedisSlot(of: RedisLayout.cluster.record(key($0)))] == .host("127.0.0.1", port: group.port(node))
            })
    }

    private func put(_ name: String, _ store: RedisRecordStore) async throws -> Bool {
        try await store.write(
            Record(version: 1, bytes: [1]), at: key(name), replacing: nil, until: Date() + 1_000,
            counting: [Date() + 600])
    }

    @Test func `any node of the address works, and an unavailable one is skipped`() async throws {
        let group = try await RedisClusterGroup()
        for seed in [0, 5] {
            let store = try RedisRecordStore(group.address(of: [seed]), limit: .seconds(30))
            for number in 0..<30 { _ = try await store.read(key("viewer-\(number)")) }
        }
        let nowhere = try UnusedPort.any()
        let address = try RedisAddress(
            Secret("redis+cluster://127.0.0.1:\(nowhere),127.0.0.1:\(group.port(1))"))
        _ = try await RedisRecordStore(address, limit: .seconds(30)).read(key("anna"))
    }

    @Test func `while slots move no write is lost or repeated, and the store learns their place`() async throws {
        let group = try await RedisClusterGroup()
        let store = try group.store()
        let name = try name(on: 0, group)
        let slot = RedisSlot(of: RedisLayout.cluster.record(key(name)))
        #expect(try await put(name, store))
        // Another program's counter in the same slot, changed all the time.
        let (counted, isOver) = (Locked(0), Locked(false))
        let writers = (0..<4).map { _ in
            Task {
                while !isOver.withLock({ $0 }) {
                    try await store.change(key(name)) { bytes in [UInt8(((bytes ?? [0])[0] &+ 1))] }
                    counted.withLock { $0 += 1 }
                }
            }
        }
        for (source, target) in [(0, 1), (1, 2), (2, 0)] { try await group.move(slot, from: source, to: target) }
        isOver.withLock { $0 = true }
        for writer in writers { try await writer.value }
        let bytes = try #require(try await store.read(key(name)).record?.bytes)
        #expect(bytes == [UInt8(truncatingIfNeeded: 1 + counted.withLock { $0 })])
        #expect(try await store.page(of: .account, "acme", prefix: name, after: nil, limit: 9).map(\.name) == [name])
        // Where nothing moves any more, no call is redirected.
        try await group.move(slot, from: 0, to: 2)
        _ = try await store.read(key(name))
        #expect(store.redirections[.moved] ?? 0 > 0)
        // A node that has not heard of the move yet may still have been asked for the slots.
        var before: [ClusterRedirection: UInt64]
        repeat {
            _ = try await store.servers.cluster?.refreshed()
            before = store.redirections
            for _ in 0..<20 { _ = try await store.read(key(name)) }
        } while store.redirections != before
    }

    @Test func `a record that moved before its slot is found, and a script waits for the rest`() async throws {
        let group = try await RedisClusterGroup()
        let store = try group.store()
        let name = try name(on: 0, group)
        let record = RedisLayout.cluster.record(key(name))
        #expect(try await put(name, store))
        let waiting = Locked<Task<Bool, any Error>?>(nil)
        try await group.move(RedisSlot(of: record), from: 0, to: 1) {
            try group.node(0).command("MIGRATE", "127.0.0.1", "\(group.port(1))", record, "0", "5000")
            #expect(try await store.read(key(name)).record?.version == 1)
            let writer = Task {
                try await store.write(
                    Record(version: 2, bytes: [2]), at: key(name), replacing: 1, until: Date() + 1_000, counting: [])
            }
            waiting.withLock { $0 = writer }
            while store.redirections[.tryAgain] == nil { await Task.yield() }
        }
        #expect(try await waiting.withLock { $0 }?.value == true)
        #expect(store.redirections[.ask] ?? 0 > 0)
        #expect(try await store.counted() == RecordCount(0, isWhole: true))
    }

    @Test(arguments: [false, true])
    func `a primary that dies or hangs takes down only its own slots, until its replica takes over`(
        _ hangs: Bool
    ) async throws {
        let group = try await RedisClusterGroup()
        let store = try group.store(limit: .seconds(5))
        let (lost, kept) = try (name(on: 0, group), name(on: 1, group))
        let others = try (0..<3).map { try name(on: $0, group, "other") }
        let guarded = GuardedRecordStore(
            store, for: .sessionStore, RecordStoreLimits(time: .seconds(20))
        ) { _ in }
        for name in [lost, kept] { _ = try await guarded.read(key(name)) }
        if hangs { group.node(0).pause() } else { group.node(0).stop() }
        for _ in 0..<5 { await #expect(throws: StoreError.self) { try await guarded.read(key(lost)) } }
        #expect(guarded.health.isAway)
        // The breaker is open for that primary alone, and for all of its slots.
        for _ in 0..<5 { _ = try await guarded.read(key(kept)) }
        #expect(guarded.health.isAway)
        let parts = others.map { store.part(of: key($0)) }
        #expect(parts == [0, 1, 2])
        #expect(parts.filter { guarded.health.isAway(for: EngineWork(.read, part: $0)) } == [0])
        try await group.takeOver(0)
        while guarded.health.isAway { await guarded.guarded.probe() }
        #expect(try await put(lost, store))
        #expect(guarded.health.isAway == false)
        if hangs {
            // It finds out that it is not a primary any more.
            group.node(0).resume()
            #expect(try await store.read(key(lost)).record?.version == 1)
        }
    }

    @Test func `a write is acknowledged only if the replica has it, where the address says so`() async throws {
        let group = try await RedisClusterGroup()
        let address = try group.address("", "?replicas=1")
        let store = try RedisRecordStore(
            address, replicas: .init(1, within: .seconds(5)), limit: .seconds(10))
        let name = try name(on: 0, group)
        #expect(try await put(name, store))
        group.node(3).pause()
        let other = try self.name(on: 0, group, "other")
        let error = await #expect(throws: StoreError.self) { _ = try await put(other, store) }
        #expect(error?.kind == .unavailable)
        group.node(3).resume()
        try await group.failOver(0)
        var found = try? await store.read(key(name)).record
        while found == nil { found = try? await store.read(key(name)).record }
        #expect(found?.version == 1)
    }

    @Test func `a TLS error names its cause`() async throws {
        let files = try TLSFiles()
        let group = try await RedisClusterGroup(certificates: files.certificates)
        let other = try SelfSigned()
        let stranger = try files.folder.write(other.certificate, to: "stranger.pem")
        func error(_ address: String) async throws -> StoreError? {
            let store = try RedisRecordStore(RedisAddress(Secret(address)), limit: .seconds(30))
            return await #expect(throws: StoreError.self) { _ = try await store.read(key("anna")) }
        }
        let (port, ca, own) = (group.port(0), files.folder.path("certificate.pem"), files.folder.path("key.pem"))
        let identity = "&certificateFile=\(ca)&keyFile=\(own)"
        let untrusted = try await error("rediss+cluster://localhost:\(port)?caFile=\(stranger)\(identity)")
        #expect(untrusted?.reason.contains("was refused: ") == true && untrusted?.kind == .misconfigured)
        let misnamed = try await error("rediss+cluster://127.0.0.1:\(port)?caFile=\(ca)\(identity)")
        #expect(misnamed?.reason.contains("it names another host") == true)
        #expect(misnamed?.kind == .misconfigured)
        let anonymous = try await error("rediss+cluster://localhost:\(port)?caFile=\(ca)")
        #expect(anonymous?.kind == .unavailable)
        let mixed = try await error(
            "rediss+cluster://localhost:\(port)?caFile=\(ca)&certificateFile=\(stranger)&keyFile=\(own)")
        #expect(mixed?.kind == .misconfigured)
        _ = try await RedisRecordStore(
            RedisAddress(Secret("rediss+cluster://localhost:\(port)?caFile=\(ca)\(identity)")), limit: .seconds(30)
        ).read(key("anna"))
    }

    @Test func `a new password is used without a restart`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("first\n", to: "password", mode: 0o600)
        let port = try UnusedPort.any()
        let redis = try await RedisProcess(port: port, ["--requirepass", "first"])
        let store = try RedisRecordStore(
            RedisAddress(Secret("redis://127.0.0.1:\(port)?passwordFile=\(file)")), limit: .seconds(30))
        _ = try await store.read(key("anna"))
        let socket = try RedisSocket(.host("127.0.0.1", port: port), within: .seconds(30))
        for words in [
            ["AUTH", "first"], ["CONFIG", "SET", "requirepass", "second"], ["CLIENT", "KILL", "TYPE", "normal"],
        ] { _ = try socket.ask(words, within: .seconds(30)) }
        while (try? await store.read(key("anna"))) != nil { await Task.yield() }
        _ = try folder.write("second\n", to: "password", mode: 0o600)
        var found = try? await store.read(key("anna"))
        while found == nil { found = try? await store.read(key("anna")) }
        withExtendedLifetime(redis) {}
    }

    @Test func `the check covers each primary and the slots`() async throws {
        let group = try await RedisClusterGroup()
        func findings() async throws -> [StoreFinding] {
            let ports = (0..<3).map { "127.0.0.1:\(group.port($0))" }.joined(separator: ",")
            return await Stores.findings(at: try StoreAddress("redis+cluster://\(ports)"), for: [.sessions])
        }
        // Redis evicts nothing unless it is configured to.
        #expect(try await findings().isEmpty)
        try group.node(2).command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        let found = try await findings()
        #expect(found.count == 1 && found.first?.isFault == true)
        #expect(found.first?.reason.contains(":\(group.port(2)) evicts records") == true)
        try group.node(2).command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        for node in 0..<3 { try group.node(node).command("CONFIG", "SET", "cluster-require-full-coverage", "yes") }
        let whole = try await findings()
        #expect(whole.count == 1 && whole.first?.isFault == false)
        #expect(whole.first?.reason.hasSuffix("cluster-require-full-coverage is yes.") == true)
        // No license needs the right to ask.
        for node in 0..<3 { try group.node(node).command("ACL", "SETUSER", "default", "-config|get") }
        #expect(try await findings().isEmpty)
        for node in 0..<3 { try group.node(node).command("CONFIG", "SET", "cluster-require-full-coverage", "no") }
        try group.node(0).command("CLUSTER", "DELSLOTS", "0", "1")
        let uncovered = try await findings()
        #expect(uncovered.contains { $0.reason.hasPrefix("2 of the cluster's 16384 slots") })
        group.node(0).stop()
        let away = try await findings()
        #expect(away.contains { !$0.isFault && $0.reason.contains(":\(group.port(0))") })
    }
}
