import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Decisions while a store is out of service.
@Suite(.timeLimit(.minutes(5))) struct AccountOutageTests {
    private let scene = AccountScene()
    private static let limits = RecordStoreLimits(breaker: .init(patience: .milliseconds(150), pause: .seconds(1)))

    static let failures: [StoreError.Kind] = [.unavailable, .full, .damaged, .misconfigured]

    @Test(
        arguments: [("allow", "license", 300.0), ("allow:2m", "license", 120), ("refuse", "storeUnavailable", nil)],
        failures)
    func `the policy's rule decides`(_ rule: (String, String, TimeInterval?), _ kind: StoreError.Kind) async throws {
        let policy = try Scene.policy(AccountScene.one + #","outage":{"sessionStore":"\#(rule.0)"}"#)
        for call in [InterruptedStore.Call.read, .write] {
            let accountSessions = scene.accountSessions(
                InterruptedStore(
                    store: scene.store,
                    before: { now, _ throws(StoreError) in
                        if now == call { throw StoreError(kind, "interrupted", reason: "Odd.") }
                    }))
            let booked = await accountSessions.decide(AccountScene.facts("s"), by: policy)
            #expect(booked.decision.word == rule.1)
            #expect(booked.decision.terms?.lease?.inSeconds == rule.2)
            #expect(booked.slot == nil)
            #expect(booked.heartbeatToken == nil)
            #expect(booked.record.facts.account.outages == [.sessionStore])
        }
        #expect(try await scene.store.read(.account("anna", "demo")).record == nil)
    }

    @Test func `engines that the caller reports down stay down`() async throws {
        let facts = AccountScene.facts("s") { $0.account.outages = [.callout] }
        let booked = await scene.accountSessions().decide(facts, by: try Scene.policy(AccountScene.one))
        #expect(booked.decision.word == "storeUnavailable")
    }

    @Test func `a damaged record is an outage only for its account`() async throws {
        let (accountSessions, policy) = (
            scene.accountSessions(), try Scene.policy(AccountScene.one + #","outage":{"sessionStore":"refuse"}"#)
        )
        let damaged = Record(version: 1, bytes: [2, 0, 0])
        #expect(
            try await scene.store.write(
                damaged, at: .account("anna", "demo"), replacing: nil, until: .distantFuture))
        #expect(await accountSessions.decide(AccountScene.facts("s"), by: policy).decision.word == "storeUnavailable")
        let other = AccountScene.facts("s") { $0.grant.account = "bert" }
        #expect(await accountSessions.decide(other, by: policy).decision.word == "license")
        guard case .failed(.sessionStore, let error) = scene.events.withLock({ $0 }).first else {
            throw InterruptedStore.down
        }
        #expect(error.kind == .damaged)
        #expect(try await accountSessions.erase("anna", of: "demo").map { try $0.account.get() } == [AccountState()])
        #expect(await accountSessions.decide(AccountScene.facts("s"), by: policy).decision.word == "license")
    }

    /// A store that does not answer until the gate opens, and how often it was asked.
    private func hung(
        _ gate: Promise<Void, any Error>, _ calls: Locked<Int>, reach: EngineReach = .network
    ) -> InterruptedStore {
        InterruptedStore(
            store: scene.store,
            before: { _, _ throws(StoreError) in
                calls.withLock { $0 += 1 }
                try? await gate.value
            }, reach: reach)
    }

    /// A license for which a store that hangs is tried twice.
    private func late(_ sessions: AccountSessions, by policy: Policy) async -> Decision {
        async let booked = sessions.decide(AccountScene.facts("s"), by: policy)
        for _ in 0..<2 {
            await scene.clock.untilSomeoneSleeps(for: .milliseconds(50))
            scene.clock.advance(by: .milliseconds(50))
        }
        return await booked.decision
    }

    @Test func `a store that hangs is tried twice, then requests are overloaded; later the rule decides instantly`()
        async throws
    {
        let (gate, calls) = (Promise<Void, any Error>(), Locked(0))
        let accountSessions = scene.accountSessions(hung(gate, calls), limits: Self.limits)
        let policy = try Scene.policy(AccountScene.one)
        let health = accountSessions.accounts.parts[0].health
        guard case .refuse(let refusal, _, _) = await late(accountSessions, by: policy) else {
            throw InterruptedStore.down
        }
        #expect(refusal.kind == .overloaded && refusal.status == 503 && refusal.retryAfter == .seconds(1))
        #expect(calls.withLock { $0 } == 2 && !health.isAway)
        // It has failed for 150 ms with the second call.
        #expect(await late(accountSessions, by: policy).word == "license")
        #expect(calls.withLock { $0 } == 4 && health.isAway)
        #expect(await accountSessions.decide(AccountScene.facts("s"), by: policy).decision.word == "license")
        #expect(calls.withLock { $0 } == 4)
        gate.resolve(.success(()))
        scene.clock.advance(by: .seconds(1))
        // The probe for its return runs outside the decision.
        #expect(await accountSessions.decide(AccountScene.facts("s"), by: policy).slot == nil)
        while health.isAway { await Task.yield() }
        #expect(await accountSessions.decide(AccountScene.facts("s"), by: policy).slot != nil)
    }

    @Test(arguments: [false, true])
    func `a call that fails with a late one is overload; one that fails alone is an outage`(_ isLate: Bool)
        async throws
    {
        var failure = InterruptedStore.down
        failure.isLate = isLate
        let store = InterruptedStore(store: scene.store, before: { [failure] _, _ throws(StoreError) in throw failure })
        let accountSessions = scene.accountSessions(store, limits: Self.limits)
        let policy = try Scene.policy(AccountScene.one)
        let decision = await accountSessions.decide(AccountScene.facts("s"), by: policy).decision
        #expect(decision.word == (isLate ? "overloaded" : "license"))
        #expect(accountSessions.accounts.parts[0].health.isAway == !isLate)
    }

    @Test func `a store in this process is overloaded, never down, however long it hangs`()
        async throws
    {
        let (gate, calls) = (Promise<Void, any Error>(), Locked(0))
        let accountSessions = scene.accountSessions(hung(gate, calls, reach: .disk), limits: Self.limits)
        let policy = try Scene.policy(AccountScene.one)
        for _ in 0..<100 {
            #expect(await late(accountSessions, by: policy).word == "overloaded")
            scene.clock.advance(by: .seconds(10))
        }
        #expect(calls.withLock { $0 } == 200)
        #expect(accountSessions.accounts.parts.allSatisfy { !$0.health.isAway })
        gate.resolve(.success(()))
        #expect(await accountSessions.decide(AccountScene.facts("s"), by: policy).slot != nil)
    }

    @Test func `a write that comes in late takes no slot or token twice`() async throws {
        let (writes, gate) = (Locked(0), Promise<Void, any Error>())
        let slow = InterruptedStore(
            store: scene.store,
            after: { call, _ throws(StoreError) in
                guard call == .write,
                    writes.withLock({ writes in
                        writes += 1
                        return writes == 1
                    })
                else { return }
                try? await gate.value
            })
        for (accounts, tokens) in [(slow, scene.store), (scene.store, slow)] as [(any RecordStore, any RecordStore)] {
            writes.withLock { $0 = 0 }
            let accountSessions = scene.accountSessions(accounts, tokens: tokens)
            let policy = try Scene.policy(AccountScene.one + #","token":{"singleUse":true}"#)
            let facts = AccountScene.facts("s-\(accounts.engine)") { $0.grant.account = accounts.engine }
            async let booked = accountSessions.decide(facts, by: policy)
            while writes.withLock({ $0 }) == 0 || scene.clock.sleeperCount != 1 { await Task.yield() }
            scene.clock.advance(by: .milliseconds(50))
            #expect(await booked.decision.word == "license")
            #expect(try await accountSessions.slots(accounts.engine).count == 1)
        }
        gate.resolve(.success(()))
    }

    @Test func `a caller that leaves neither interrupts a call nor counts as a failure`() async throws {
        let gate = Gate()
        let accountSessions = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                before: { call, _ throws(StoreError) in
                    if call == .write { await gate.wait() }
                }))
        let policy = try Scene.policy(AccountScene.one)
        let task = Task { await accountSessions.decide(AccountScene.facts("s"), by: policy) }
        await gate.untilSomeoneArrives()
        task.cancel()
        gate.open()
        #expect(await task.value.slot != nil)
        #expect(try await accountSessions.slots() == ["s"])
        #expect(scene.events.withLock { $0 } == [])
    }

    @Test func `a session store's failure is noticed before a license needs it, and so is its recovery`()
        async
    {
        let isDown = Locked(true)
        let store = InterruptedStore(
            store: scene.store,
            before: { _, _ throws(StoreError) in
                if isDown.withLock({ $0 }) { throw StoreError(.unavailable, "test", reason: "It is away.") }
            })
        let accountSessions = AccountSessions(accounts: store, secrets: [], timekeeper: scene.clock)
        for one in accountSessions.watched { await one.probe() }
        #expect(accountSessions.watched.map(\.health.name) == ["sessionStore", "tokenStore"])
        #expect(
            accountSessions.watched.allSatisfy {
                $0.health.status == .away && $0.health.standing.lastError?.reason == "It is away."
            }
        )
        isDown.withLock { $0 = false }
        for one in accountSessions.watched { await one.probe() }
        #expect(accountSessions.watched.allSatisfy { $0.health.status == .answers })
    }
}
