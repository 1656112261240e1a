import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Decisions over a store: the reads, the writes, and who wins.
@Suite(.timeLimit(.minutes(5))) struct AccountSessionsTests {
    private let scene = AccountScene()

    private func word(_ accountSessions: AccountSessions, _ session: String, _ policy: String) async throws -> String {
        await accountSessions.decide(AccountScene.facts(session), by: try Scene.policy(policy)).decision.word
    }

    @Test func `concurrent keys of one playback take one slot`() async throws {
        let (accountSessions, policy) = (scene.accountSessions(), try Scene.policy(AccountScene.one))
        let tracks: [TrackClass] = [.audio, .sd, .hd, .uhd1, .uhd2]
        let booked = await withTaskGroup(of: BookedDecision.self) { group in
            for track in tracks {
                group.addTask {
                    await accountSessions.decide(AccountScene.facts("s") { $0.key.track = track }, by: policy)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(booked.allSatisfy { $0.decision.terms != nil })
        #expect(booked.count { $0.isTaken } == 1)
        #expect(Set(booked.map { $0.slot?.fence }).count == 1)
        let slots = try await accountSessions.account("anna", of: "demo").slots
        #expect(slots.map(\.tracks) == [Set(tracks)])
    }

    @Test(arguments: [
        ("refuseNewest", "sessionLimit", ["a"]), ("stopOldest", "license", ["b"]), ("count", "license", ["a", "b"]),
    ])
    func `the mode decides about a start beyond the limit`(_ mode: String, _ answer: String, _ left: [String])
        async throws
    {
        let policy = AccountScene.lease + #","concurrency":{"limit":1,"mode":"\#(mode)"}"#
        #expect(try await word(scene.accountSessions(), "a", policy) == "license")
        #expect(try await word(scene.accountSessions(), "b", policy) == answer)
        #expect(try await scene.accountSessions().slots() == Set(left))
    }

    @Test func `a stopped session learns by whom, until the mark ends`() async throws {
        let policy = AccountScene.lease + #","concurrency":{"limit":1,"mode":"stopOldest"}"#
        let accountSessions = scene.accountSessions()
        for session in ["a", "b"] { _ = try await word(accountSessions, session, policy) }
        let refused = await accountSessions.decide(AccountScene.facts("a"), by: try Scene.policy(policy)).decision
            .refusal
        #expect(refused?.kind == .policy(.sessionStopped))
        #expect(refused?.reason.contains("“TV of b”") == true)
        scene.clock.advance(by: AccountState.stopMemory)
        #expect(try await word(accountSessions, "a", policy) == "license")
    }

    @Test func `a slot is free when it ends or its player stops`() async throws {
        let accountSessions = scene.accountSessions()
        #expect(try await word(accountSessions, "a", AccountScene.one) == "license")
        #expect(try await word(accountSessions, "b", AccountScene.one) == "sessionLimit")
        scene.clock.advance(by: .seconds(320))
        #expect(try await word(accountSessions, "b", AccountScene.one) == "license")
        let stop = AccountScene.facts("b") { $0.request.playback = .stopped }
        #expect(
            await accountSessions.decide(stop, by: try Scene.policy(AccountScene.one)).decision.word == "acknowledge")
        #expect(try await accountSessions.slots() == [])
        #expect(try await scene.store.read(.account("anna", "demo")).record == nil)
    }

    @Test func `a fence is the record's version, and rises after the record was deleted`() async throws {
        let (accountSessions, policy) = (scene.accountSessions(), try Scene.policy(AccountScene.one))
        let first = try #require(await accountSessions.decide(AccountScene.facts("a"), by: policy).slot)
        #expect(try await scene.store.read(.account("anna", "demo")).record?.version == UInt64(first.fence))
        scene.clock.advance(by: .seconds(400))
        #expect(try await scene.store.read(.account("anna", "demo")).record == nil)
        let second = try #require(await accountSessions.decide(AccountScene.facts("a"), by: policy).slot)
        #expect(second.fence > first.fence)
        // A store whose clock stops, or goes back, still gives a higher one.
        scene.clock.setDate(Scene.now - 3_600)
        _ = try await accountSessions.release(session: "a", of: "anna", "demo")
        _ = await accountSessions.decide(AccountScene.facts("keeper") { $0.key.content = "x" }, by: policy)
        let third = try #require(await accountSessions.decide(AccountScene.facts("keeper"), by: policy).slot)
        #expect(third.started == Scene.now - 3_600)
    }

    @Test func `a policy that counts nothing uses no store`() async throws {
        let accountSessions = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                before: { _, _ throws(StoreError) in
                    Issue.record("The store was asked.")
                }))
        let booked = await accountSessions.decide(AccountScene.facts("s"), by: try Scene.policy(AccountScene.lease))
        #expect(booked.decision.terms != nil)
        #expect(booked.slot == nil)
        #expect(booked.record.facts.now == Scene.now)
    }

    @Test func `an unchanged account is not written`() async throws {
        let writes = Locked(0)
        let accountSessions = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                before: { [writes] call, _ throws(StoreError) in
                    if call == .write { writes.withLock { $0 += 1 } }
                }))
        #expect(try await word(accountSessions, "a", AccountScene.one) == "license")
        #expect(try await word(accountSessions, "b", AccountScene.one) == "sessionLimit")
        #expect(try await word(accountSessions, "a", AccountScene.one) == "license")
        let gone = AccountScene.facts("gone") { $0.request.playback = .stopped }
        _ = await accountSessions.decide(gone, by: try Scene.policy(AccountScene.one))
        #expect(writes.withLock { $0 } == 1)
    }

    @Test func `the store's clock decides, not the node's`() async throws {
        let storeClock = ManualTimekeeper(date: Scene.now + 100)
        let accountSessions = scene.accountSessions(MemoryRecordStore(timekeeper: storeClock))
        let booked = await accountSessions.decide(AccountScene.facts("s"), by: try Scene.policy(AccountScene.one))
        #expect(booked.slot?.ends == Scene.now + 420)
        #expect(booked.record.facts.now == Scene.now + 100)
    }

    @Test func `a decision restarts after a concurrent write`() async throws {
        let (policy, other) = (try Scene.policy(AccountScene.one), scene.accountSessions())
        let isFirst = Locked(true)
        let accountSessions = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                after: { call, _ throws(StoreError) in
                    guard call == .read,
                        isFirst.withLock({ first in
                            defer { first = false }; return first
                        })
                    else { return }
                    _ = await other.decide(AccountScene.facts("rival"), by: policy)
                }))
        #expect(try await word(accountSessions, "late", AccountScene.one) == "sessionLimit")
        #expect(try await accountSessions.slots() == ["rival"])
    }

    @Test func `an account that changes at every attempt is unavailable`() async throws {
        let (policy, other) = (try Scene.policy(#""concurrency":{"limit":9,"mode":"count"}"#), scene.accountSessions())
        let count = Locked(0)
        let accountSessions = scene.accountSessions(
            InterruptedStore(
                store: scene.store,
                after: { call, _ throws(StoreError) in
                    guard call == .read else { return }
                    let number = count.withLock {
                        $0 += 1; return $0
                    }
                    _ = await other.decide(AccountScene.facts("rival-\(number)"), by: policy)
                }))
        let booked = await accountSessions.decide(AccountScene.facts("s"), by: policy, requestID: "r-1")
        #expect(booked.decision.refusal?.kind == .policy(.storeUnavailable))
        #expect(booked.decision.refusal?.retryAfterSeconds == 1)
        #expect(booked.record.word == "storeUnavailable")
        #expect(booked.record.requestID == "r-1")
        // The record that the last write found is read, too.
        #expect(count.withLock { $0 } == AccountSessions.attempts + 1)
    }

    @Test func `devices, downloads, first plays and licenses of the minute are stored`() async throws {
        let accountSessions = scene.accountSessions()
        func word(_ policy: String, _ session: String, _ change: (inout Facts) -> Void = { _ in }) async throws
            -> String
        {
            await accountSessions.decide(AccountScene.facts(session, change), by: try Scene.policy(policy)).decision
                .word
        }
        let devices = #""devices":{"limit":1,"window":"1d"}"#
        #expect(try await word(devices, "a") == "license")
        #expect(try await word(devices, "b") == "deviceLimit")
        #expect(try await accountSessions.forget(device: "device-of-a", of: "anna", "demo"))
        #expect(try await word(devices, "b") == "license")
        scene.clock.advance(by: .seconds(86_400))
        #expect(try await word(devices, "a") == "license")

        let downloads = #""download":{"allow":true,"perAccount":1,"storage":"1h"}"#
        let download = { (facts: inout Facts) in facts.request.purpose = .download }
        #expect(try await word(downloads, "a", download) == "license")
        #expect(try await word(downloads, "a", download) == "license")
        #expect(try await word(downloads, "b", download) == "downloadLimit")
        scene.clock.advance(by: .seconds(3_600))
        #expect(try await word(downloads, "b", download) == "license")

        let window = #""validity":{"afterFirstPlay":"1h"}"#
        #expect(try await word(window, "a") == "license")
        scene.clock.advance(by: .seconds(3_600))
        #expect(try await word(window, "a") == "ended")
        #expect(try await word(window, "a") { $0.key.content = "other" } == "license")

        let rate = #""limits":{"licensesPerMinute":2}"#
        for expected in ["license", "license", "rateLimit"] { #expect(try await word(rate, "a") == expected) }
        scene.clock.advance(by: .seconds(60))
        #expect(try await word(rate, "a") == "license")
    }

    @Test func `tenants' accounts are apart, and viewers without an account share one`() async throws {
        let accountSessions = scene.accountSessions()
        func word(_ session: String, _ tenant: String, _ account: String) async throws -> String {
            let facts = AccountScene.facts(session) { ($0.request.tenant, $0.grant.account) = (tenant, account) }
            return await accountSessions.decide(facts, by: try Scene.policy(AccountScene.one)).decision.word
        }
        #expect(try await word("a", "one", "anna") == "license")
        #expect(try await word("b", "two", "anna") == "license")
        #expect(try await word("c", "one", "") == "license")
        #expect(try await word("d", "one", "") == "sessionLimit")
    }
}
