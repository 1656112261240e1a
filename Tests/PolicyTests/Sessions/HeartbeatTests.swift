import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// The players' reports about their slots.
@Suite(.timeLimit(.minutes(5))) struct HeartbeatTests {
    private let scene = AccountScene()
    private static let policy =
        AccountScene.lease + #","concurrency":{"limit":1,"mode":"stopOldest","heartbeat":"30s","grace":"10s"}"#

    private func booked(_ session: String, _ policy: String = policy) async throws -> BookedDecision {
        await scene.accountSessions().decide(AccountScene.facts(session), by: try Scene.policy(policy))
    }

    private func token(_ session: String, _ policy: String = policy) async throws -> String {
        try #require(try await booked(session, policy).heartbeatToken)
    }

    private func code(_ answer: HeartbeatAnswer) -> String? {
        guard case .refused(let refusal) = answer else { return nil }
        return refusal.code
    }

    @Test func `a heartbeat extends the slot by two beats and the grace`() async throws {
        let booked = try await booked("s")
        let token = try #require(booked.heartbeatToken)
        #expect(booked.heartbeat == .seconds(30))
        #expect(booked.slot?.ends == Scene.now + 70)
        for beat in 1...5 {
            scene.clock.advance(by: .seconds(30))
            let end = Scene.now + Double(beat * 30 + 70)
            #expect(await scene.accountSessions().heartbeat(token, of: "demo") == .continues(until: end))
        }
        scene.clock.advance(by: .seconds(70))
        #expect(code(await scene.accountSessions().heartbeat(token, of: "demo")) == "sessionEnded")
    }

    @Test func `without heartbeats in the policy a heartbeat extends nothing`() async throws {
        let booked = try await booked("s", AccountScene.one)
        let token = try #require(booked.heartbeatToken)
        #expect(booked.heartbeat == nil)
        scene.clock.advance(by: .seconds(200))
        #expect(await scene.accountSessions().heartbeat(token, of: "demo") == .continues(until: Scene.now + 320))
    }

    @Test func `a stopped session's heartbeat says by whom, and writes nothing`() async throws {
        let old = try await token("a")
        _ = try await token("b")
        guard case .refused(let refusal) = await scene.accountSessions().heartbeat(old, of: "demo") else {
            throw InterruptedStore.down
        }
        #expect(refusal.kind == .policy(.sessionStopped))
        #expect(refusal.reason.contains("“TV of b”"))
        #expect(try await scene.accountSessions().slots() == ["b"])
    }

    @Test func `an old fence neither extends nor frees a newer slot of its session`() async throws {
        let old = try await token("s")
        scene.clock.advance(by: .seconds(100))
        let renewed = try await booked("s")
        #expect(renewed.isTaken)
        #expect(code(await scene.accountSessions().heartbeat(old, of: "demo")) == "sessionStopped")
        #expect(await scene.accountSessions().release(old, of: "demo")?.code == "sessionStopped")
        #expect(try await scene.accountSessions().account("anna", of: "demo").slots == [renewed.slot])
    }

    @Test(arguments: [(Block.Kind.account, "anna", "accountBlocked"), (.device, "device-of-s", "deviceBlocked")])
    func `a blocked viewer's heartbeat is refused, also without the store, and a release is not`(
        _ kind: Block.Kind, _ name: String, _ word: String
    ) async throws {
        let (token, blocks) = (try await token("s"), BlockList(nil))
        let subject = Block.Subject(kind, name, of: "demo")
        let node = scene.accountSessions(blocks: blocks)
        blocks.add(Block(subject, reason: "stolen", by: "ops", since: Scene.now, until: Scene.now + 60))
        #expect(code(await node.heartbeat(token, of: "demo")) == word)
        let decision = await node.decide(AccountScene.facts("s"), by: try Scene.policy(Self.policy)).decision
        #expect(decision.word == word, "A renewal is refused as well.")
        scene.clock.advance(by: .seconds(60))
        #expect(code(await node.heartbeat(token, of: "demo")) == nil)
        blocks.add(Block(subject, reason: "stolen", by: "ops", since: Scene.now))
        #expect(await node.release(token, of: "demo") == nil)
        #expect(try await node.slots() == [])
    }

    @Test func `a release frees the slot, and can be repeated`() async throws {
        let token = try await token("s")
        for _ in 0..<2 { #expect(await scene.accountSessions().release(token, of: "demo") == nil) }
        #expect(try await scene.accountSessions().slots() == [])
        #expect(code(await scene.accountSessions().heartbeat(token, of: "demo")) == "sessionEnded")
    }

    @Test func `a token of another server, tenant or form is refused`() async throws {
        let token = try await token("s")
        let other = AccountSessions(accounts: scene.store, secrets: [Secret("other")], timekeeper: scene.clock)
        #expect(code(await other.heartbeat(token, of: "demo")) == "heartbeatToken")
        #expect(code(await scene.accountSessions().heartbeat(token, of: "other")) == "heartbeatToken")
        let rotated = AccountSessions(
            accounts: scene.store, secrets: [Secret("new"), scene.secret], timekeeper: scene.clock)
        #expect(code(await rotated.heartbeat(token, of: "demo")) == nil)
        for text in ["", "x", String(repeating: "A", count: 43), String(repeating: "A", count: 5_000), token + "A"] {
            #expect(code(await scene.accountSessions().heartbeat(text, of: "demo")) == "heartbeatToken")
        }
    }

    @Test func `no changed or cut token counts`() async throws {
        let token = Array(try await token("s").utf8)
        for index in token.indices {
            var changed = token
            changed[index] = changed[index] == 0x41 ? 0x42 : 0x41
            #expect(HeartbeatToken(String(decoding: changed, as: UTF8.self), [scene.secret]) == nil)
            #expect(HeartbeatToken(String(decoding: token.prefix(index), as: UTF8.self), [scene.secret]) == nil)
        }
    }

    @Test func `a heartbeat without the store asks to retry`() async throws {
        let token = try await token("s")
        let down = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                before: { _, _ throws(StoreError) in
                    throw InterruptedStore.down
                }))
        guard case .refused(let refusal) = await down.heartbeat(token, of: "demo") else { throw InterruptedStore.down }
        #expect(refusal.status == 503)
        #expect(refusal.retryAfterSeconds == 1)
    }

    @Test(arguments: [1, 2])
    func `a store that is late for a heartbeat is asked once more, then refused as overload`(_ times: Int)
        async throws
    {
        let token = try await token("s")
        let (gate, left) = (Promise<Void, any Error>(), Locked(times))
        let late = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                before: { _, _ throws(StoreError) in
                    let isLate = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    if isLate { try? await gate.value }
                }))
        async let answer = late.heartbeat(token, of: "demo")
        for _ in 0..<times {
            await scene.clock.untilSomeoneSleeps(for: .milliseconds(50))
            scene.clock.advance(by: .milliseconds(50))
        }
        switch await answer {
        case .continues(let end): #expect(times == 1 && end > Scene.now + 70)
        case .refused(let refusal):
            #expect(times == 2 && refusal.kind == .overloaded && refusal.status == 503)
            #expect(refusal.retryAfterSeconds == 1)
        }
        #expect(late.accounts.parts.allSatisfy { !$0.health.isAway })
        gate.resolve(.success(()))
    }

    @Test func `a slot is returned if this decision took it, and no other renewed it`() async throws {
        let accountSessions = scene.accountSessions()
        let taken = try await booked("a", AccountScene.one)
        await accountSessions.undo(taken, tookSlot: taken.isTaken)
        #expect(try await accountSessions.slots() == [])
        scene.clock.advance(by: .milliseconds(1))
        let again = try await booked("a", AccountScene.one)
        await accountSessions.undo(taken, tookSlot: taken.isTaken)
        #expect(try await accountSessions.slots() == ["a"])
        scene.clock.advance(by: .seconds(1))
        let renewal = try await booked("a", AccountScene.one)
        #expect(!renewal.isTaken)
        await accountSessions.undo(renewal, tookSlot: renewal.isTaken)
        await accountSessions.undo(again, tookSlot: again.isTaken)
        #expect(try await accountSessions.slots() == ["a"])
    }

    @Test func `operators page accounts, stop sessions and forget devices`() async throws {
        let accountSessions = scene.accountSessions()
        let policy = try Scene.policy(AccountScene.one + #","devices":{"limit":1}"#)
        for account in ["bert", "anna", "annabel"] {
            _ = await accountSessions.decide(
                AccountScene.facts("s-\(account)") { $0.grant.account = account }, by: policy)
        }
        #expect(try await accountSessions.accounts(of: "demo").map(\.name) == ["anna", "annabel", "bert"])
        #expect(try await accountSessions.accounts(of: "demo", after: "anna", limit: 1).map(\.name) == ["annabel"])
        #expect(
            try await accountSessions.accounts(of: "demo", prefix: "ann").map { $0.account.slots.map(\.session) }
                == [["s-anna"], ["s-annabel"]])
        #expect(try await accountSessions.accounts(of: "other").isEmpty)
        #expect(try await accountSessions.sessionCount(of: "demo", most: 100) == RecordCount(3, isWhole: true))
        #expect(try await accountSessions.sessionCount(of: "other", most: 100) == RecordCount(0, isWhole: true))
        #expect(try await accountSessions.stop(session: "s-anna", of: "anna", "demo", by: "the help issuer"))
        #expect(try await !accountSessions.stop(session: "s-anna", of: "anna", "demo", by: "the help issuer"))
        let refused = await accountSessions.decide(AccountScene.facts("s-anna"), by: policy).decision.refusal
        #expect(refused?.reason.contains("the help issuer") == true)
        #expect(try await !accountSessions.forget(device: "unknown", of: "anna", "demo"))
        #expect(try await accountSessions.account("nobody", of: "demo") == AccountState())
        #expect(try await accountSessions.erase("nobody", of: "demo").map { try $0.account.get() } == [nil])
    }
}
