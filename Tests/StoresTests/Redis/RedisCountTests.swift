import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

/// Counts in a real Redis that another version wrote, or that lost something.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisCountTests {
    private static let index = "latchkey:count:account:{acme}"

    /// Writes a record as a version did that kept no count.
    private func writeFormerly(_ name: String, _ bytes: String, in redis: RedisProcess, version: Int = 7) throws {
        let key = "latchkey:account:{acme:\(name)}"
        try redis.command("HSET", key, "v", "\(version)", "b", bytes)
        try redis.command("PEXPIRE", key, "3600000")
    }

    /// As many things as a record has bytes, each for ten minutes.
    private static let ends: @Sendable ([UInt8]) -> [Date] = { $0.map { _ in Date() + 600 } }

    private func count(_ store: RedisRecordStore, most: Int = .max) async throws -> RecordCount {
        try await store.count(of: .account, "acme", most: most, Self.ends)
    }

    @Test func `records written by a version without a count are counted once, then by the writes`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        for number in 0..<700 { try writeFormerly("name-\(number)", "ab", in: redis) }
        #expect(try await count(store) == RecordCount(1_400, isWhole: true))
        // No record is read any more.
        #expect(try await store.counted() == RecordCount(1_400, isWhole: true))
        try await store.putCounting("name-1", [60])
        try await store.putCounting("new", [60, 90])
        #expect(try await store.counted() == RecordCount(1_401, isWhole: true))
        // The two sets, too.
        #expect(try redis.command("DBSIZE") == .integer(703))
        #expect(try redis.command("PTTL", "latchkey:account:{acme:name-9}") != .integer(-1))
    }

    @Test func `with very many records the count is a lower bound until a background count ends`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        for number in 0..<1_000 { try writeFormerly("name-\(number)", "a", in: redis) }
        let first = try await count(store, most: 200)
        #expect(!first.isWhole && (1...1_000).contains(first.value), "\(first)")
        var last = first
        while !last.isWhole { last = try await count(store, most: 200) }
        #expect(last == RecordCount(1_000, isWhole: true))
    }

    @Test func `a write by a version without a count makes the count a minimum until it is complete`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        try await store.putCounting("anna", [600])
        #expect(try await count(store) == RecordCount(1, isWhole: true))
        let version = try #require(
            try await store.read(RecordKey(.account, tenant: "acme", name: "anna")).record?.version)
        // The other version renews it, and then this one meets it.
        try redis.command("HSET", "latchkey:account:{acme:anna}", "v", "\(version + 1)", "b", "abc")
        try await store.putCounting("anna", [600])
        #expect(try redis.command("ZSCORE", Self.index, "") == .bulk(nil))
        #expect(try await count(store).isWhole)
        #expect(try redis.command("ZSCORE", Self.index, "") != .bulk(nil))
    }

    @Test func `a deleted count is rebuilt`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        for name in ["anna", "bert"] { try await store.putCounting(name, [600]) }
        #expect(try await count(store) == RecordCount(2, isWhole: true))
        try redis.command("DEL", Self.index)
        #expect(try await count(store) == RecordCount(2, isWhole: true))
    }

    @Test func `an expired record is no longer counted, and is deleted by later writes`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        _ = try await count(store)
        for number in 0..<40 {
            try redis.command("ZADD", Self.index, "\(1_000 + number)", "0:old-\(number)")
        }
        #expect(try await store.counted() == RecordCount(0, isWhole: true))
        // Three, their records' ends, and the word that the count is whole. Not each write forgets.
        var number = 0
        repeat {
            try await store.putCounting("new-\(number % 3)", [600])
            number += 1
        } while try number < 1_000 && redis.command("ZCARD", Self.index) != .integer(7)
        #expect(number < 1_000)
        #expect(try await store.counted() == RecordCount(3, isWhole: true))
    }

    @Test func `a write by a user who lacks a command names the remedy and writes no record`()
        async throws
    {
        let port = try UnusedPort.any()
        let redis = try await RedisProcess(port: port)
        try redis.command(
            "ACL", "SETUSER", "node", "on", ">word", "resetkeys", "~latchkey:*", "-@all", "+time", "+hmget", "+hset",
            "+pexpireat", "+evalsha", "+eval", "+role", "+zrangebylex", "+zcount", "+zscore", "+zrem", "+scan",
            "+pexpiretime")
        let store = try RedisRecordStore(
            RedisAddress(Secret("redis://node:word@127.0.0.1:\(port)")), limit: .seconds(30))
        let error = await #expect(throws: StoreError.self) { try await store.putCounting("anna", [60]) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.remedy.contains("run --check") == true)
        #expect(try redis.command("EXISTS", "latchkey:account:{acme:anna}") == .integer(0))
    }
}
