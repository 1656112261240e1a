import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyVault
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyStores
@testable import StoreProcesses

/// The cost of a license and a heartbeat in commands of a real Redis; and no decision rests on a wrong guess.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisSingleTripTests {
    private let limits = RecordStoreLimits(time: .seconds(60))

    private func policy(_ more: String = "") throws -> Policy {
        try Policy(
            json: Data(
                #"{"version":1,"concurrency":{"limit":2\#(more)},"outage":{"sessionStore":"refuse"}}"#.utf8))
    }

    private func node(_ store: any RecordStore) -> AccountSessions {
        AccountSessions(accounts: store, secrets: [Secret("s")], limits: limits)
    }

    private func facts(_ session: String, _ account: String = "anna") -> Facts {
        var facts = Facts()
        (facts.request.tenant, facts.grant.account, facts.grant.session) = ("demo", account, session)
        return facts
    }

    @Test func `a license, its renewal and a heartbeat take one trip each`() async throws {
        let redis = try await RedisProcess()
        let node = node(try redis.store())
        let policy = try policy(#","heartbeat":"60s""#)
        // The first call ever asks for the clock, and loads the scripts.
        _ = await node.decide(facts("warm", "warm"), by: policy)
        func trips(_ body: () async throws -> Void) async throws -> (scripts: Int, reads: Int) {
            let before = try (redis.calls(of: "evalsha") + redis.calls(of: "eval"), redis.calls(of: "hmget"))
            try await body()
            let after = try (redis.calls(of: "evalsha") + redis.calls(of: "eval"), redis.calls(of: "hmget"))
            // Each script reads the record once.
            return (after.0 - before.0, after.1 - before.1 - (after.0 - before.0))
        }
        var token = ""
        let first = try await trips {
            let booked = await node.decide(facts("one"), by: policy)
            token = try #require(booked.heartbeatToken)
        }
        #expect(first == (1, 0))
        let renewal = try await trips { #expect(await node.decide(facts("one"), by: policy).slot != nil) }
        #expect(renewal == (1, 0))
        // Redis learns the script with the first one.
        _ = await node.heartbeat(token, of: "demo")
        let heartbeat = try await trips {
            guard case .continues = await node.heartbeat(token, of: "demo") else {
                Issue.record("The heartbeat is refused.")
                return
            }
        }
        #expect(heartbeat == (1, 0))
    }

    @Test func `a heartbeat leaves the record as a node would write it, and counted`() async throws {
        let redis = try await RedisProcess()
        let (store, memory) = (try redis.store(), MemoryRecordStore())
        let policy = try policy(#","heartbeat":"60s""#)
        _ = try await store.counted("demo")
        for (index, sessions) in [node(store), node(memory)].enumerated() {
            for session in ["zeta", "alpha"] { _ = await sessions.decide(facts(session), by: policy) }
            let booked = await sessions.decide(facts("alpha"), by: policy)
            let before = try await sessions.account("anna", of: "demo")
            let answer = await sessions.heartbeat(try #require(booked.heartbeatToken), of: "demo")
            // Reading it checks that it is in its only form.
            let after = try await sessions.account("anna", of: "demo")
            guard case .continues(let end) = answer else {
                Issue.record("\(answer) of \(index)")
                continue
            }
            #expect(after.slots.map(\.session).sorted() == ["alpha", "zeta"])
            let slot = try #require(after.slots.first { $0.session == "alpha" })
            #expect(abs(slot.ends.timeIntervalSince(end)) < 0.002)
            let other = before.slots.first { $0.session == "zeta" }
            #expect(after.slots.first { $0.session == "zeta" } == other)
            #expect(slot.fence == before.slots.first { $0.session == "alpha" }?.fence)
        }
        #expect(try await store.counted("demo").value == 2)
        let reading = try await store.read(.account("anna", "demo"))
        let record = try #require(reading.record)
        let last = try #require(AccountState.slotEnds(inRecordBytes: record.bytes)?.max())
        let page = try await store.page(of: .account, "demo", prefix: "", after: nil, limit: 9)
        #expect(page.map(\.name) == ["anna"])
        #expect(try #require(page.first?.end) >= last - 0.001)
    }

    @Test func `a heartbeat of a slot that another node stopped, replaced or let end says why`() async throws {
        let redis = try await RedisProcess()
        let nodes = try [node(redis.store()), node(redis.store())]
        let policy = try policy(#","heartbeat":"60s""#)
        let token = try #require(await nodes[0].decide(facts("one"), by: policy).heartbeatToken)
        #expect(try await nodes[1].stop(session: "one", of: "anna", "demo", by: "the operator"))
        let stopped = await nodes[0].heartbeat(token, of: "demo")
        guard case .refused(let refusal) = stopped else {
            Issue.record("\(stopped)")
            return
        }
        #expect(refusal.reason.contains("the operator"))
        let second = try #require(await nodes[0].decide(facts("two"), by: policy).heartbeatToken)
        #expect(try await nodes[1].release(session: "two", of: "anna", "demo"))
        _ = await nodes[1].decide(facts("two"), by: policy)
        #expect(await nodes[0].heartbeat(second, of: "demo") == .refused(.slotReplaced))
        #expect(try await nodes[1].release(session: "two", of: "anna", "demo"))
        #expect(await nodes[0].heartbeat(second, of: "demo") == .refused(.slotEnded))
    }

    @Test func `a node's memory causes no refusal and no license`() async throws {
        let redis = try await RedisProcess()
        let nodes = try [node(redis.store()), node(redis.store())]
        let policy = try policy()
        for session in ["one", "two"] { #expect(await nodes[0].decide(facts(session), by: policy).slot != nil) }
        // The other node returns both: the first remembers two slots.
        for session in ["one", "two"] { #expect(try await nodes[1].release(session: session, of: "anna", "demo")) }
        #expect(await nodes[0].decide(facts("three"), by: policy).slot != nil)
        // The first knows one slot, the other takes the second.
        #expect(await nodes[1].decide(facts("four"), by: policy).slot != nil)
        #expect(await nodes[0].decide(facts("five"), by: policy).decision.word == "sessionLimit")
    }

    @Test func `a decision with a clock ahead of Redis is refused`() async throws {
        let store = try await RedisProcess.shared.value.store()
        let key = RecordKey(.account, tenant: "ahead-\(UUID())", name: "anna")
        let now = try await store.read(key).now
        func write(_ guess: Date) async throws -> RecordReading? {
            try await store.exchange(
                Record(version: 5, bytes: [1]), at: key, knowing: RecordReading(record: nil, now: guess, isGuess: true),
                until: now + 600, counting: [now + 600])
        }
        let held = try #require(try await write(now + 60))
        #expect(held.record == nil && !held.isGuess && held.now >= now)
        #expect(try await write(now - 1) == nil)
        let other = try #require(try await write(now - 1))
        #expect(other.record == Record(version: 5, bytes: [1]))
    }

    @Test func `a node's estimate of the clock is never ahead`() async throws {
        let store = try await RedisProcess.shared.value.store()
        let key = RecordKey(.account, tenant: "clock", name: "anna")
        #expect(store.guess(key) == nil)
        _ = try await store.read(key)
        for _ in 0..<200 {
            let guess = try #require(store.guess(key))
            #expect(try await store.read(key).now >= guess.now)
        }
    }
}

/// Operators' queries, next to the licenses of a real Redis.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisOperatorTests {
    private func connections(_ redis: RedisProcess) throws -> Int {
        // One is the question's.
        (try redis.command("CLIENT", "LIST").text ?? "").split(whereSeparator: \.isNewline).count - 1
    }

    @Test func `pages and counts use a separate connection`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        _ = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 9)
        _ = try await store.counted()
        _ = try await store.forOperators.read(RecordKey(.account, tenant: "acme", name: "anna"))
        try await store.forOperators.putCounting("anna", [60])
        #expect(try connections(redis) == 1)
        try await store.putCounting("bert", [60])
        #expect(try connections(redis) == 3)
    }

    @Test func `pages and counts scan no keys, however many exist`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        _ = try await store.counted()
        let before = try redis.calls(of: "scan")
        for number in 0..<300 { try await store.putCounting("name-\(number)", [600]) }
        let page = try await store.page(of: .account, "acme", prefix: "name-2", after: "name-20", limit: 50)
        #expect(page.count == 50 && page.first?.name == "name-200")
        #expect(try await store.counted() == RecordCount(300, isWhole: true))
        #expect(try redis.calls(of: "scan") == before)
    }

    @Test func `an earlier version's records are listed before the first page`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        for number in 0..<300 {
            let key = "latchkey:account:{acme:old-\(number)}"
            try redis.command("HSET", key, "v", "7", "b", "a", "c", "7", "n", "1")
            try redis.command("PEXPIRE", key, "3600000")
            try redis.command("ZADD", "latchkey:count:account:{acme}", "9e15", "0:old-\(number)")
        }
        let first = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 1_000)
        #expect(first.count == 300)
        // A page says nothing about counted things.
        let count = try await store.count(of: .account, "acme", most: .max) { _ in [Date() + 60] }
        #expect(count == RecordCount(300, isWhole: true))
    }

    @Test func `ended records take no room on a page and are deleted`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        for number in 0..<60 { try await store.putCounting("ended-\(number)", [], ends: -1) }
        try await store.putCounting("there", [60])
        let page = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 5)
        #expect(page.map(\.name) == ["there"])
        // It, and the word that the list is whole.
        #expect(try redis.command("ZCARD", "latchkey:names:account:{acme}") == .integer(2))
    }
}
