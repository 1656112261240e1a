import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Tokens that are good for one session.
@Suite(.timeLimit(.minutes(5))) struct TokenUseTests {
    private let scene = AccountScene()
    private static let single = #""token":{"singleUse":true}"#

    private func word(
        _ session: String, _ token: String? = "t", _ policy: String = single, tenant: String = "demo",
        _ store: (any RecordStore)? = nil
    ) async throws -> String {
        let facts = AccountScene.facts(session) {
            ($0.grant.tokenID, $0.request.tenant, $0.grant.expires) = (token, tenant, Scene.now + 300)
        }
        return await scene.accountSessions(store).decide(facts, by: try Scene.policy(policy)).decision.word
    }

    @Test func `one session uses its token for all its keys within the time, and no other does`() async throws {
        for expected in ["license", "license"] { #expect(try await word("s-1") == expected) }
        #expect(try await word("s-2") == "tokenUsed")
        scene.clock.advance(by: .seconds(60))
        #expect(try await word("s-1") == "license")
        scene.clock.advance(by: .seconds(1))
        #expect(try await word("s-1") == "tokenUsed")
    }

    @Test(arguments: [nil, ""]) func `a token without an identifier is refused`(_ identifier: String?) async throws {
        #expect(try await word("s", identifier) == "tokenMalformed")
    }

    @Test func `tenants' tokens are separate, and no store holds an identifier`() async throws {
        #expect(try await word("s-1", tenant: "one") == "license")
        #expect(try await word("s-2", tenant: "two") == "license")
        let records = try await scene.store.page(of: .token, "one", prefix: "", after: nil, limit: 10)
        #expect(records.map(\.name) == ["t".digestName])
        #expect(records.first?.end == Scene.now + 330)
    }

    @Test func `of parallel sessions one gets the token`() async throws {
        let policy = try Scene.policy(Self.single)
        let (one, other) = (scene.accountSessions(), scene.accountSessions())
        let words = await withTaskGroup(of: String.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let facts = AccountScene.facts("s-\(number)") { $0.grant.tokenID = "t" }
                    return await (number.isMultiple(of: 2) ? one : other).decide(facts, by: policy).decision.word
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(words == ["license": 1, "tokenUsed": 99])
    }

    @Test func `a refused license does not use the token`() async throws {
        let both = Self.single + "," + AccountScene.one
        #expect(try await word("a", "t-a", both) == "license")
        #expect(try await word("b", "t-b", both) == "sessionLimit")
        #expect(try await scene.accountSessions().release(session: "a", of: "anna", "demo"))
        #expect(try await word("c", "t-b", both) == "license")
    }

    /// A scene's store, in which an event intervenes before an account is written for the first time.
    private static func store(
        _ scene: AccountScene, first comesBetween: @escaping @Sendable () async -> Void
    ) -> InterruptedStore {
        let isFirst = Locked(true)
        return InterruptedStore(
            store: scene.store,
            before: { call, key throws(StoreError) in
                guard call == .write, key?.kind == .account else { return }
                let comesNow = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if comesNow { await comesBetween() }
            })
    }

    @Test func `an attempt that restarts after an account change keeps its token, and a refusal returns it`()
        async throws
    {
        // No use after the first one, to the millisecond.
        let policy = #""token":{"singleUse":true,"reuse":"0s"},"#
        for (limit, expected) in [(2, "license"), (1, "sessionLimit")] {
            let scene = AccountScene()
            let other = scene.accountSessions()
            let rule = try Scene.policy(AccountScene.lease + #","concurrency":{"limit":\#(limit)}"#)
            // Between the token and the account, another session takes a slot.
            let store = Self.store(scene) {
                _ = await other.decide(AccountScene.facts("other"), by: rule)
                scene.clock.advance(by: .seconds(1))
            }
            let facts = AccountScene.facts("one") { ($0.grant.tokenID, $0.grant.expires) = ("t", Scene.now + 300) }
            let word = await scene.accountSessions(store)
                .decide(
                    facts, by: try Scene.policy(policy + AccountScene.lease + #","concurrency":{"limit":\#(limit)}"#)
                )
                .decision.word
            #expect(word == expected)
            let spent = try await scene.store.page(of: .token, "demo", prefix: "", after: nil, limit: 10).count
            #expect(spent == (expected == "license" ? 1 : 0))
        }
    }

    @Test func `a license takes room in a limit once, however often it restarts`() async throws {
        let bound = CountingBound(limit: 5)
        let (other, rule) = (
            scene.accountSessions(), try Scene.policy(AccountScene.lease + #","concurrency":{"limit":9}"#)
        )
        let left = Locked(3)
        let store = InterruptedStore(
            store: scene.store,
            before: { call, key throws(StoreError) in
                let number = left.withLock { left in
                    if call == .write, key?.kind == .account { left -= 1 }
                    return left
                }
                guard call == .write, key?.kind == .account, number >= 0 else { return }
                _ = await other.decide(AccountScene.facts("other-\(number)"), by: rule)
            })
        let booked = try await scene.accountSessions(store).decide(
            AccountScene.facts("one"), by: rule, within: bound)
        #expect(booked.decision.word == "license" && booked.use == .another)
        #expect(bound.held == CountingBound.Held(kept: 1) && left.withLock { $0 } == -1)
        // A renewal needs no room, and a refusal takes none.
        let renewal = try await scene.accountSessions().decide(AccountScene.facts("one"), by: rule, within: bound)
        #expect(renewal.use == .renewed && bound.held.kept == 1)
        let one = try Scene.policy(AccountScene.one)
        let refused = try await scene.accountSessions().decide(AccountScene.facts("two"), by: one, within: bound)
        #expect(refused.decision.word == "sessionLimit" && bound.held == CountingBound.Held(kept: 1))
    }

    @Test func `a license without room returns its token, and one whose store fails takes room once`()
        async throws
    {
        let bound = CountingBound(limit: 1)
        let policy = try Scene.policy(Self.single + "," + AccountScene.lease + #","concurrency":{"limit":9}"#)
        let facts = AccountScene.facts("one") { ($0.grant.tokenID, $0.grant.expires) = ("t", Scene.now + 300) }
        let other = scene.accountSessions()
        // The token is spent, then the account changes and another session takes the room.
        let store = Self.store(scene) {
            _ = await other.decide(AccountScene.facts("other") { $0.grant.tokenID = "o" }, by: policy)
            bound.fill()
        }
        let node = scene.accountSessions(store)
        await #expect(throws: CountingBound.Excess.self) {
            _ = try await node.decide(facts, by: policy, within: bound)
        }
        #expect(bound.held == CountingBound.Held(kept: 1))
        let tokens = try await scene.store.page(of: .token, "demo", prefix: "", after: nil, limit: 10)
        #expect(tokens.map(\.name) == ["o".digestName])

        let down = InterruptedStore(
            store: scene.store,
            before: { call, key throws(StoreError) in
                if call == .write, key?.kind == .token { throw InterruptedStore.down }
            })
        let allowed = try Scene.policy(
            Self.single + "," + AccountScene.lease
                + #","concurrency":{"limit":9},"outage":{"tokenStore":"allow"}"#)
        let roomy = CountingBound(limit: 5)
        let booked = try await scene.accountSessions(down).decide(facts, by: allowed, within: roomy)
        #expect(booked.decision.word == "license" && roomy.held == CountingBound.Held(kept: 1))
        // The node that gave the token back does not remember it as used.
        let two = AccountScene.facts("two") { $0.grant.tokenID = "t" }
        #expect(await node.decide(two, by: policy).decision.word == "license")
    }

    @Test(arguments: [("allow", "license"), ("allow:2m", "license"), ("refuse", "storeUnavailable")])
    func `while the store is down or full the policy decides`(_ rule: String, _ expected: String) async throws {
        let policy = Self.single + #","outage":{"tokenStore":"\#(rule)"}"#
        let down = InterruptedStore(
            store: scene.store,
            before: { _, _ throws(StoreError) in
                throw InterruptedStore.down
            })
        #expect(try await word("s", "t", policy, down) == expected)
        let full = MemoryRecordStore(limit: 1, timekeeper: scene.clock)
        #expect(try await word("s", "t-1", policy, full) == "license")
        #expect(try await word("s", "t-2", policy, full) == expected)
        #expect(try await word("other", "t-1", policy, full) == "tokenUsed")
    }
}

/// Room for a number of slots.
private final class CountingBound: DecisionBound {
    struct Excess: Error {}

    struct Held: Equatable {
        var underWay = 0
        var kept = 0
    }

    private let limit: Int
    private let state = Locked(Held())

    init(limit: Int) { self.limit = limit }

    var held: Held { state.withLock { $0 } }

    /// Another session takes the free room; a session that has begun goes back first.
    func fill() { state.withLock { $0.kept = limit } }

    func take(_ use: SlotUse) -> Excess? {
        guard use == .another else { return nil }
        return state.withLock { held in
            guard held.underWay + held.kept < limit else { return Excess() }
            held.underWay += 1
            return nil
        }
    }

    func keep(_ use: SlotUse) {
        guard use == .another else { return }
        state.withLock { held in
            held.underWay -= 1
            held.kept += 1
        }
    }

    func giveBack(_ use: SlotUse) {
        if use == .another { state.withLock { $0.underWay -= 1 } }
    }
}
