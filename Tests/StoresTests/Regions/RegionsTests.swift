import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyStores
@testable import StoreProcesses

/// Two regions, each with its own node and Redis, and an ocean between them of 80 ms there and back.
@Suite(.enabled(if: RedisProcess.isInstalled, "Redis is not installed."), .timeLimit(.minutes(5)))
struct RegionsTests {
    /// The two regions; a relay is the way from one to the other.
    private final class World: Sendable {
        let redis: [String: RedisProcess]
        let relays: [String: DelayingRelay]
        let nodes: [String: AccountSessions]
        let events = Locked<[RecordStoreEvent]>([])
        let clock = ManualTimekeeper(date: Date())
        private let closing: [RedisRecordStore]

        init(away delay: Duration) async throws {
            let redis = ["eu": try await RedisProcess(), "us": try await RedisProcess()]
            let relays = try redis.mapValues { try DelayingRelay(to: $0.path, delay: delay / 2) }
            var (nodes, closing): ([String: AccountSessions], [RedisRecordStore]) = ([:], [])
            let (events, clock) = (events, clock)
            for node in ["eu", "us"] {
                var stores: [String: any RecordStore] = [:]
                for (region, process) in redis {
                    let address =
                        region == node
                        ? process.address
                        : try RedisAddress(Secret("redis://127.0.0.1:\(relays[region]?.port ?? 0)"))
                    // A busy machine is not an outage.
                    let store = try RedisRecordStore(address, replicas: nil, limit: .seconds(30))
                    closing.append(store)
                    stores[region] = store
                }
                nodes[node] = AccountSessions(
                    accounts: try #require(RegionalRecordStore(stores)),
                    secrets: [Secret([UInt8](repeating: 7, count: 32))],
                    limits: RecordStoreLimits(time: .seconds(60)), timekeeper: clock
                ) { event in
                    if case .took = event { return }
                    events.withLock { $0.append(event) }
                }
            }
            (self.redis, self.relays, self.nodes, self.closing) = (redis, relays, nodes, closing)
        }

        func node(_ region: String) throws -> AccountSessions { try #require(nodes[region]) }
    }

    private static let one = #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1}"#
    // As the hash has them.
    private static let (american, european) = ("anna", "dora")

    private static func policy(_ members: String) throws -> Policy {
        try Policy(json: Data(#"{"version":1,\#(members)}"#.utf8))
    }

    private static func facts(_ account: String, _ session: String) -> Facts {
        var facts = Facts()
        facts.request.tenant = "acme"
        (facts.grant.account, facts.grant.session) = (account, session)
        (facts.grant.device, facts.grant.tokenID) = ("device-\(session)", "token-\(account)")
        (facts.key.content, facts.key.track) = ("movie", .hd)
        return facts
    }

    @Test func `both regions share one limit, whichever node is asked`() async throws {
        let world = try await World(away: .milliseconds(80))
        let policy = try Self.policy(Self.one)
        for account in [Self.american, Self.european] {
            let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for node in ["eu", "us"] {
                    let sessions = try world.node(node)
                    for number in 0..<4 {
                        group.addTask {
                            let facts = Self.facts(account, "\(node)-\(number)")
                            return await sessions.decide(facts, by: policy).decision.terms != nil
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(granted == 1)
            for node in ["eu", "us"] {
                #expect(try await world.node(node).account(account, of: "acme").slots.count == 1)
            }
        }
        // Each account is in its home's Redis, and nowhere else.
        for (region, account) in [("us", Self.american), ("eu", Self.european)] {
            let keys = try #require(world.redis[region]).command("KEYS", "*\(account)*")
            #expect(keys.elements?.isEmpty == false)
            let other = try #require(world.redis[region == "us" ? "eu" : "us"]).command("KEYS", "*\(account)*")
            #expect(other.elements?.isEmpty == true)
        }
    }

    @Test func `a token is used once in the world`() async throws {
        let world = try await World(away: .milliseconds(80))
        let policy = try Self.policy(#""validity":{"type":"lease","lease":"5m"},"token":{"singleUse":true}"#)
        for account in [Self.american, Self.european] {
            async let eu = world.node("eu").decide(Self.facts(account, "one"), by: policy).decision.word
            async let us = world.node("us").decide(Self.facts(account, "two"), by: policy).decision.word
            #expect(try await Set([eu, us]) == ["license", "tokenUsed"])
        }
    }

    @Test func `only an account with a remote home takes a trip: once, and twice after a wrong guess`() async throws {
        let world = try await World(away: .milliseconds(80))
        let policy = try Self.policy(Self.one)
        let (node, relay) = (try world.node("eu"), try #require(world.relays["us"]))
        // The first trip includes connecting.
        #expect(await node.decide(Self.facts(Self.american, "a"), by: policy).decision.terms != nil)
        let before = relay.trips
        #expect(await node.decide(Self.facts(Self.european, "a"), by: policy).decision.terms != nil)
        #expect(relay.trips == before)
        let began = ContinuousClock.now
        #expect(await node.decide(Self.facts(Self.american, "a"), by: policy).decision.terms != nil)
        #expect(relay.trips == before + 1)
        #expect(ContinuousClock.now - began >= .milliseconds(80), "The relay holds each way up.")
        // The node's memory no longer matches the store.
        #expect(try await world.node("us").decide(Self.facts(Self.american, "a"), by: policy).decision.terms != nil)
        #expect(await node.decide(Self.facts(Self.american, "a"), by: policy).decision.terms != nil)
        #expect(relay.trips == before + 3)
        // A refusal never rests on a guess: the record is read.
        #expect(await node.decide(Self.facts(Self.american, "b"), by: policy).decision.word == "sessionLimit")
        #expect(relay.trips == before + 4)
    }

    @Test
    func `while a region is unreachable its accounts follow the policy's outage rule, others their limits`()
        async throws
    {
        let world = try await World(away: .milliseconds(2))
        let (eu, us) = (try world.node("eu"), try world.node("us"))
        let allow = try Self.policy(Self.one + #","outage":{"sessionStore":"allow:2m"}"#)
        let refuse = try Self.policy(Self.one + #","outage":{"sessionStore":"refuse"}"#)
        for account in [Self.american, Self.european] {
            #expect(await eu.decide(Self.facts(account, "one"), by: allow).decision.terms != nil)
            #expect(await us.decide(Self.facts(account, "two"), by: allow).decision.word == "sessionLimit")
        }
        try #require(world.relays["us"]).cut(true)
        // More often than one store's breaker allows.
        for number in 0..<10 {
            let far = await eu.decide(Self.facts(Self.american, "one"), by: allow)
            #expect(far.decision.terms?.lease == .seconds(120) && far.slot == nil)
            #expect(far.record.facts.account.outages == [.sessionStore])
            // The node counts from its memory.
            #expect(
                await eu.decide(Self.facts(Self.american, "far-\(number)"), by: allow).decision.word == "sessionLimit")
            #expect(
                await eu.decide(Self.facts(Self.european, "near-\(number)"), by: allow).decision.word == "sessionLimit")
        }
        #expect(await eu.decide(Self.facts(Self.american, "far"), by: refuse).decision.word == "storeUnavailable")
        // The region itself counts on.
        #expect(await us.decide(Self.facts(Self.american, "home"), by: allow).decision.word == "sessionLimit")
        let events = world.events.withLock { $0 }
        #expect(events.contains { if case .tookInRegion("us", _) = $0 { true } else { false } })
        #expect(eu.watched.map(\.health).filter(\.isAway).map(\.region) == ["us"])
        try #require(world.relays["us"]).cut(false)
        world.clock.advance(by: .seconds(2))
        for one in eu.watched where one.health.isAway { await one.probe() }
        #expect(await eu.decide(Self.facts(Self.american, "far"), by: allow).decision.word == "sessionLimit")
    }
}
