import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Slots: which session takes one, which waits, and which is stopped.
@Suite(.timeLimit(.minutes(5))) struct ConcurrencyTests {
    private static let own = "0000000000000001"
    private static let now = Scene.now

    private static func with(_ slots: Slot..., change: @escaping @Sendable (inout Facts) -> Void = { _ in })
        -> @Sendable (inout Facts) -> Void
    {
        { facts in
            facts.account.slots = slots
            change(&facts)
        }
    }

    static let cases: [DecisionCase] = [
        DecisionCase(#""concurrency":{"limit":1}"#, "license"),
        DecisionCase(#""concurrency":{"limit":1}"#, "sessionLimit", with(Scene.slot("a", fence: 1))),
        DecisionCase(#""concurrency":{"limit":2}"#, "license", with(Scene.slot("a", fence: 1))),
        DecisionCase(#""concurrency":{"limit":1}"#, "license", with(Scene.slot("a", fence: 1, ends: 0))),
        DecisionCase(#""concurrency":{"limit":1}"#, "license", with(Scene.slot(own, fence: 1))),
        DecisionCase(#""concurrency":{"limit":1}"#, "license", with(Scene.slot("a", fence: 1, device: "d1"))),
        DecisionCase(#""concurrency":{"limit":1,"mode":"count"}"#, "license", with(Scene.slot("a", fence: 1))),
        DecisionCase(#""concurrency":{"limit":1,"mode":"stopOldest"}"#, "license", with(Scene.slot("a", fence: 1))),
        DecisionCase(
            #""concurrency":{"limit":1,"scope":"title"}"#, "license", with(Scene.slot("a", fence: 1, content: "b"))),
        DecisionCase(#""concurrency":{"limit":1,"scope":"title"}"#, "sessionLimit", with(Scene.slot("a", fence: 1))),
        DecisionCase(
            #""concurrency":{"limit":1,"scope":"profile"}"#, "license", with(Scene.slot("a", fence: 1, profile: "kid"))),
        DecisionCase(#""concurrency":{"limit":1,"scope":"profile"}"#, "sessionLimit", with(Scene.slot("a", fence: 1))),
        DecisionCase(
            #""concurrency":{"limit":1,"scope":"class"}"#, "license", with(Scene.slot("a", fence: 1, tracks: [.sd]))),
        DecisionCase(#""concurrency":{"limit":1,"scope":"class"}"#, "sessionLimit", with(Scene.slot("a", fence: 1))),
        DecisionCase(
            #""concurrency":{"perClass":{"UHD":1}}"#, "sessionLimit",
            with(Scene.slot("a", fence: 1, tracks: [.uhd1])) { $0.key.track = .uhd2 }),
        DecisionCase(
            #""concurrency":{"perClass":{"UHD":1}}"#, "license", with(Scene.slot("a", fence: 1, tracks: [.uhd1]))),
        DecisionCase(
            #""concurrency":{"perClass":{"UHD":1}}"#, "sessionLimit",
            with(Scene.slot("a", fence: 1, tracks: [.uhd1]), Scene.slot(own, fence: 2)) { $0.key.track = .uhd1 }),
        DecisionCase(
            #""concurrency":{"perClass":{"UHD":1}}"#, "license",
            with(Scene.slot("a", fence: 1, tracks: [.uhd1]), Scene.slot(own, fence: 2, tracks: [.uhd2])) {
                $0.key.track = .uhd1
            }),
        DecisionCase(#""concurrency":{"limit":1}"#, "sessionMissing") { facts in
            facts.request.session = nil
            facts.grant.tokenID = nil
        },
        DecisionCase("", "license") { facts in
            facts.request.session = nil
            facts.grant.tokenID = nil
        },
        DecisionCase(#""concurrency":{"limit":1}"#, "sessionStopped") {
            $0.account.stopped = [StoppedSession(session: own, by: "TV", at: now)]
        },
        DecisionCase(
            #""concurrency":{"limit":1}"#, "sessionLimit",
            with(Scene.slot("a", fence: 1)) { $0.request.playback = .leaseExpiring }),
        DecisionCase(
            #""concurrency":{"limit":1},"download":{"allow":true}"#, "license",
            with(Scene.slot("a", fence: 1)) { $0.request.purpose = .download }),
        DecisionCase(
            #""concurrency":{"limit":1}"#, "license", with(Scene.slot("a", fence: 71)) { $0.request.stopCodes = ["1z"] }
        ),
        DecisionCase(
            #""concurrency":{"limit":1}"#, "sessionLimit",
            with(Scene.slot("a", fence: 71)) { $0.request.stopCodes = ["20"] }),
    ]

    @Test(arguments: cases) func `slots are counted by scope, class and mode`(_ given: DecisionCase) throws {
        #expect(try Scene.decision(given.policy, given.change).word == given.word)
    }

    @Test func `a refused viewer sees the sessions in its way, with a code to stop each`() throws {
        let slots = [Scene.slot("secret-b", fence: 40, device: "TV"), Scene.slot("secret-a", fence: 39)]
        let policy = #""concurrency":{"limit":2},"messages":{"concurrency":"streams-in-use"}"#
        let refused = try Scene.decision(policy) { $0.account.slots = slots }
        let refusal = try #require(refused.refusal)
        #expect(refusal.conflicts.map(\.stopCode) == ["13", "14"])
        #expect(refusal.conflicts.map(\.device) == [nil, "TV"])
        let body = String(decoding: refusal.body(requestID: "r"), as: UTF8.self)
        #expect(!body.contains("secret"))
        #expect(body.contains(#""message":"streams-in-use""#))
        let chosen = try Scene.decision(policy) {
            $0.account.slots = slots
            $0.request.stopCodes = ["13"]
        }
        #expect(chosen.change.stopping == ["secret-a"])
    }

    @Test func `the oldest are stopped, and learn by whom`() throws {
        let state = Scene.facts {
            $0.account.slots = [Scene.slot("c", fence: 3), Scene.slot("a", fence: 1), Scene.slot("b", fence: 2)]
        }
        let policy = try Scene.policy(#""concurrency":{"limit":2,"mode":"stopOldest"}"#)
        let decision = decide(state, by: policy)
        #expect(decision.change.stopping == ["a", "b"])
        let after = state.account.applying(decision.change, at: Scene.now, fence: 4)
        #expect(Set(after.slots.map(\.session)) == ["c", Self.own])
        #expect(after.slots.last?.fence == 4)
        var late = Scene.facts { $0.account = after }
        late.grant.session = "a"
        let stopped = decide(late, by: policy)
        #expect(stopped.word == "sessionStopped")
        #expect(stopped.refusal?.reason.contains("Kitchen") == true)
    }

    @Test func `a slot ends after the lease and a grace, or after two heartbeats`() throws {
        func end(_ members: String) throws -> TimeInterval? {
            guard case .take(let slot, _) = try Scene.decision(members).change else { return nil }
            return slot.ends.timeIntervalSince(Scene.now)
        }
        #expect(try end(#""validity":{"type":"lease","lease":"5m"}"#) == 320)
        #expect(try end(#""validity":{"type":"lease","lease":"5m"},"concurrency":{"grace":"0s"}"#) == 300)
        #expect(try end(#""validity":{"type":"lease","lease":"5m"},"concurrency":{"heartbeat":"30s"}"#) == 80)
        #expect(try end("") == 86_420)
    }

    @Test func `a renewal extends its slot and never shortens it`() throws {
        let decision = try Scene.decision(#""validity":{"type":"lease","lease":"60s"},"concurrency":{"limit":1}"#) {
            $0.request.playback = .leaseExpiring
            $0.account.slots = [Scene.slot(Self.own, fence: 9, ends: 10)]
        }
        guard case .renew(let slot, let stopping) = decision.change else { throw JSONProblems(code: "x", problems: []) }
        #expect(slot.ends == Scene.now + 80)
        #expect(slot.fence == 9)
        #expect(stopping.isEmpty)
        let long = try Scene.decision(#""validity":{"type":"lease","lease":"60s"}"#) {
            $0.account.slots = [Scene.slot(Self.own, fence: 9, ends: 1_000)]
        }
        guard case .renew(let kept, _) = long.change else { throw JSONProblems(code: "x", problems: []) }
        #expect(kept.ends == Scene.now + 1_000)
    }

    @Test func `the token's session precedes the SPC's, and that precedes the token's identifier`() throws {
        func session(_ change: (inout Facts) -> Void) throws -> String? {
            guard case .take(let slot, _) = try Scene.decision("", change).change else { return nil }
            return slot.session
        }
        #expect(try session { $0.grant.session = "sid" } == "sid")
        #expect(try session { _ in } == Self.own)
        #expect(try session { $0.grant.session = "" } == Self.own)
        #expect(try session { $0.request.session = nil } == "t1")
    }

    @Test func `a release frees the slot`() {
        var state = AccountState()
        state.slots = [Scene.slot("a", fence: 1), Scene.slot("b", fence: 2)]
        #expect(state.applying(.release("a"), at: Scene.now, fence: 3).slots.map(\.session) == ["b"])
        #expect(state.applying(.none, at: Scene.now, fence: 3) == state)
    }
}
