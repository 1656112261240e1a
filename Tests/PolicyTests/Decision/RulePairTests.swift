import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Two rules, or two facts, about the same thing: which of them counts, in both orders.
@Suite(.timeLimit(.minutes(1))) struct RulePairTests {
    private static let own = "0000000000000001"

    @Test(arguments: [(100.0, 3_600.0), (1_000_000, 172_700)])
    func `the earlier of an end and a time after the first play ends the license`(
        _ end: TimeInterval, _ first: TimeInterval
    ) throws {
        let validity = #""validity":{"end":"\#(DateText.text(Scene.now + end))","afterFirstPlay":"48h"}"#
        let decision = try Scene.decision(validity) { $0.account.firstPlays = ["movie": Scene.now - first] }
        #expect(decision.terms?.validity == .lease(.seconds(100)))
    }

    @Test(arguments: [("1m", "5m"), ("5m", "1m")])
    func `if two engines are down, the shorter license counts`(_ callout: String, _ sessions: String) throws {
        let policy = """
            "concurrency":{"limit":1},"outage":{"callout":"allow:\(callout)","sessionStore":"allow:\(sessions)"}
            """
        let decision = try Scene.decision(policy) { $0.account.outages = [.callout, .sessionStore] }
        #expect(decision.terms?.validity == .lease(.seconds(60)))
    }

    @Test func `a device outside the window counts as new`() throws {
        let decision = try Scene.decision(#""devices":{"limit":1,"window":"1d"}"#) {
            $0.account.devices = ["d1": Scene.now - 2 * 86_400, "b": Scene.now - 60]
        }
        #expect(decision.word == "deviceLimit")
    }

    @Test func `a renewal stops no other stream of its device`() throws {
        let decision = try Scene.decision(#""concurrency":{"limit":2}"#) {
            $0.account.slots = [Scene.slot(Self.own, fence: 1, device: "d1"), Scene.slot("a", fence: 2, device: "d1")]
        }
        #expect(decision.terms != nil)
        #expect(decision.change.stopping == [])
    }

    @Test func `contents of a callout's reply narrow those of the token`() throws {
        var grant = Grant()
        grant.contents = ["movie"]
        grant.narrow(to: try Grant(calloutReply: Data(#"{"contents":["movie","other"]}"#.utf8)))
        #expect(grant.contents == ["movie"])
    }
}
