import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyStores
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import StoreProcesses

/// Engines that do some of their work: the reports of a node's health, and for how long they hold.
@Suite(.timeLimit(.minutes(3))) struct PartialOutageTests {
    /// The work for which an engine was reported unavailable.
    private static func told(by health: EngineHealth) -> Locked<[String]> {
        let told = Locked<[String]>([])
        health.whenChanged { operation, standing in
            told.withLock { $0.append("\(operation) \(standing.isAway ? "away" : "back")") }
        }
        return told
    }

    @Test(.enabled(if: RedisProcess.isInstalled))
    func `a full Redis is an outage of writes, in which a node grants no more than the limit`()
        async throws
    {
        let redis = try await RedisProcess(["--maxmemory-policy", "noeviction"])
        let store = try RedisRecordStore(redis.address, replicas: nil, limit: .seconds(30))
        let sessions = AccountSessions(
            accounts: store, secrets: [], limits: RecordStoreLimits(time: .seconds(60)))
        let policy = try Policy(
            json: Data(#"{"version":1,"validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":3}}"#.utf8))
        var facts = Facts()
        (facts.request.tenant, facts.grant.account, facts.grant.session) = ("acme", "anna", "one")
        #expect(await sessions.decide(facts, by: policy).slot != nil)
        let health = sessions.accounts.parts[0].health
        let told = Self.told(by: health)
        _ = try redis.command("CONFIG", "SET", "maxmemory", "1")
        for number in 0..<200 {
            facts.grant.session = "\(number)"
            let booked = await sessions.decide(facts, by: policy)
            #expect(booked.slot == nil && booked.decision.terms?.lease == (number < 2 ? .seconds(120) : nil))
            if number < 10 { await sessions.watched[0].probe() }
            #expect(health.isAway(for: .write) && !health.isAway(for: .read))
        }
        // Another node counts for itself.
        let other = AccountSessions(
            accounts: try RedisRecordStore(redis.address, replicas: nil, limit: .seconds(30)), secrets: [],
            limits: RecordStoreLimits(time: .seconds(60)))
        var licensed = 0
        for number in 200..<400 {
            facts.grant.session = "\(number)"
            if await other.decide(facts, by: policy).decision.terms != nil { licensed += 1 }
        }
        #expect((1...3).contains(licensed))
        #expect(health.standing.lastError?.kind == .full)
        _ = try redis.command("CONFIG", "SET", "maxmemory", "0")
        while health.isAway { await sessions.watched[0].probe() }
        // Sessions licensed meanwhile still count.
        #expect(await sessions.decide(facts, by: policy).decision.terms == nil)
        facts.grant.session = "1"
        #expect(await sessions.decide(facts, by: policy).slot?.session == "1")
        #expect(told.withLock { $0 } == ["write away", "write back"])
    }
}
