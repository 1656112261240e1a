import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision

/// The invariants of every policy and all facts. Each seed makes fifty of both.
@Suite(.timeLimit(.minutes(5))) struct DecisionPropertyTests {
    private static let seeds: Range<UInt64> = 0..<12

    private func each(_ seed: UInt64, _ body: (inout RandomScene) throws -> Void) rethrows {
        for number in 0..<50 {
            var scene = RandomScene(seed << 32 | UInt64(number))
            try body(&scene)
        }
    }

    @Test(arguments: seeds) func `every policy survives its canonical form with the same digest`(_ seed: UInt64)
        throws
    {
        try each(seed) { scene in
            let policy = try scene.policy()
            let again = try Policy(json: policy.canonicalJSON)
            #expect(again == policy)
            #expect(again.digest == policy.digest)
            #expect(again.canonicalJSON == policy.canonicalJSON)
        }
    }

    @Test(arguments: seeds) func `facts survive their canonical form and are decided alike`(_ seed: UInt64) throws {
        try each(seed) { scene in
            let (facts, policy) = (scene.facts(), try scene.policy())
            let again = try Facts(json: facts.canonicalJSON)
            #expect(again == facts)
            #expect(decide(again, by: policy) == decide(facts, by: policy))
        }
    }

    @Test(arguments: seeds) func `a narrower policy never grants more or longer than a wider one`(
        _ seed: UInt64
    ) throws {
        try each(seed) { scene in
            var facts = scene.facts()
            let policy = try scene.policy()
            let wide = decide(facts, by: policy)
            facts.grant.policy = try scene.policy()
            let narrow = decide(facts, by: policy)
            if wide.refusal != nil { #expect(narrow.refusal != nil) }
            guard let wider = wide.terms, let narrower = narrow.terms else { return }
            #expect(Self.isWithin(narrower, wider))
            #expect((wider.hdcp ?? .type0).strictness <= (narrower.hdcp ?? .type0).strictness)
        }
    }

    @Test(arguments: seeds)
    func `a policy narrowed twice by one grant is the same, and the order of two grants does not matter`(
        _ seed: UInt64
    ) throws {
        try each(seed) { scene in
            let (policy, one, other) = (try scene.policy(), try scene.policy(), try scene.policy())
            let once = policy.narrowed(to: one).policy
            #expect(once.narrowed(to: one).policy == once)
            let facts = scene.facts()
            let there = decide(facts, by: once.narrowed(to: other).policy)
            let back = decide(facts, by: policy.narrowed(to: other).policy.narrowed(to: one).policy)
            #expect(there.word == back.word)
            #expect(there.terms == back.terms)
        }
    }

    @Test(arguments: seeds) func `advancing time revives nothing that ended`(_ seed: UInt64) throws {
        try each(seed) { scene in
            var facts = scene.facts()
            let policy = try scene.policy()
            let ended = Self.ended(facts, policy)
            facts.now += Double(scene.pick(1, 60, 3_600, 100_000))
            #expect(Self.ended(facts, policy).isSuperset(of: ended))
        }
    }

    /// Whether a key may be used no longer without asking again, and stored only if it might be before.
    private static func isWithin(_ narrow: LicenseTerms, _ wide: LicenseTerms) -> Bool {
        let time = { (terms: LicenseTerms) in
            let bounds = ValidityBounds(terms.validity)
            return [bounds.lease, bounds.rental, bounds.storage].compactMap { $0 }.min() ?? .longest
        }
        return time(narrow) <= time(wide) && (wide.isPersistable || !narrow.isPersistable)
    }

    private static func ended(_ facts: Facts, _ policy: Policy) -> Set<Substring> {
        let codes = decide(facts, by: policy).notes.filter { $0.code == .refused }.map { $0.text.prefix { $0 != ":" } }
        return Set(codes).intersection(["ended", "tokenExpired"])
    }

    @Test(arguments: seeds) func `without limits that fill up, a license later is a license now`(_ seed: UInt64) throws
    {
        try each(seed) { scene in
            var facts = scene.facts()
            (facts.account.slots, facts.account.devices, facts.account.minute) = ([], [:], nil)
            var policy = try scene.policy()
            policy.validity.begin = nil
            let now = decide(facts, by: policy)
            facts.now += Double(scene.pick(1, 60, 3_600, 100_000))
            let later = decide(facts, by: policy)
            if later.terms != nil { #expect(now.terms != nil) }
            guard let before = now.terms, let after = later.terms else { return }
            #expect(Self.isWithin(after, before))
        }
    }

    @Test(arguments: seeds) func `a slot that ended is never renewed`(_ seed: UInt64) throws {
        try each(seed) { scene in
            var facts = scene.facts()
            let policy = try scene.policy()
            facts.now = facts.account.slots.map(\.ends).max() ?? facts.now
            if case .renew = decide(facts, by: policy).change { Issue.record("renewed at \(facts.now)") }
        }
    }

    @Test(arguments: seeds) func `the order of slots does not matter`(_ seed: UInt64) throws {
        try each(seed) { scene in
            var facts = scene.facts()
            let policy = try scene.policy()
            let decision = decide(facts, by: policy)
            facts.account.slots = scene.shuffled(facts.account.slots)
            #expect(decide(facts, by: policy) == decision)
        }
    }

    @Test(arguments: seeds) func `the order in which a playback requests its keys does not matter`(_ seed: UInt64)
        throws
    {
        try each(seed) { scene in
            let (facts, policy) = (scene.facts(), try scene.policy())
            let tracks: [TrackClass] = [.audio, .sd, .hd, .uhd1, .uhd2]
            #expect(Self.outcome(facts, policy, tracks) == Self.outcome(facts, policy, scene.shuffled(tracks)))
        }
    }

    private struct Outcome: Equatable {
        var words: [TrackClass: String] = [:]
        var slots: Set<Slot> = []
        var stopped: Set<String> = []
    }

    private static func outcome(_ facts: Facts, _ policy: Policy, _ tracks: [TrackClass]) -> Outcome {
        var (facts, outcome) = (facts, Outcome())
        for track in tracks {
            facts.key.track = track
            let decision = decide(facts, by: policy)
            outcome.words[track] = decision.word
            facts.account = facts.account.applying(decision.change, at: facts.now, fence: 1)
        }
        outcome.slots = Set(facts.account.slots.filter { $0.ends > facts.now })
        outcome.stopped = Set(facts.account.stopped.map(\.session))
        return outcome
    }

    @Test(arguments: seeds) func `no account gets more slots than its limit`(_ seed: UInt64) throws {
        try each(seed) { scene in
            let limit = scene.pick(1, 2, 3)
            let mode = scene.pick("refuseNewest", "stopOldest")
            let policy = try Scene.policy(#""concurrency":{"limit":\#(limit),"mode":"\#(mode)"}"#)
            var state = AccountState()
            for step in 0..<12 {
                var facts = scene.facts()
                (facts.account.slots, facts.account.stopped, facts.now) = (
                    state.slots, state.stopped, Scene.now + Double(step * 20_000)
                )
                facts.account.outages = []
                state = facts.account.applying(decide(facts, by: policy).change, at: facts.now, fence: 1)
                #expect(state.slots.count { $0.ends > facts.now } <= limit)
            }
        }
    }

    @Test(arguments: seeds) func `a refusal takes no slot, and a license no refusal note`(_ seed: UInt64) throws {
        try each(seed) { scene in
            let decision = decide(scene.facts(), by: try scene.policy())
            switch decision {
            case .refuse(let refusal, let change, let notes):
                #expect(change == .none)
                #expect(notes.first?.text == "\(refusal.code): \(refusal.reason)")
            case .license, .acknowledge: #expect(!decision.notes.contains { $0.code == .refused })
            }
        }
    }

    @Test(arguments: seeds) func `a record is decided again alike, and holds no control character`(_ seed: UInt64)
        throws
    {
        try each(seed) { scene in
            let policy = try scene.policy()
            let (record, decision) = DecisionRecord.deciding(scene.facts(), by: policy, requestID: "r")
            let read = try DecisionRecord(json: record.canonicalJSON)
            #expect(read == record)
            #expect(read.decidedAgain(by: policy).record == record)
            #expect(read.word == decision.word)
            #expect(!record.canonicalJSON.contains { $0 < 0x20 })
        }
    }

    @Test func `licenses and refusals of every kind occur`() throws {
        var words: [String: Int] = [:]
        for seed in 0..<800 {
            var scene = RandomScene(UInt64(seed))
            words[decide(scene.facts(), by: try scene.policy()).word, default: 0] += 1
        }
        #expect(words.count > 15)
        #expect((words["license"] ?? 0) > 50)
    }
}
