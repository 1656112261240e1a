import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// The meaning of a policy without `outage` while a store of limits is unavailable, in code and in pages.
@Suite(.timeLimit(.minutes(1))) struct OutageDefaultTests {
    private static let lease = #""validity":{"type":"lease","lease":"5m"}"#

    @Test(arguments: [
        (#""concurrency":{"limit":1}"#, Engine.sessionStore), (#""devices":{"limit":1}"#, .sessionStore),
        (#""token":{"singleUse":true}"#, .tokenStore),
    ])
    func `viewers are accepted, with a two-minute lease`(_ limit: String, _ engine: Engine) throws {
        let without = { (outage: String) in
            try Scene.decision("\(Self.lease),\(limit)\(outage)") { $0.account.outages = [engine] }
        }
        #expect(try without("").terms?.validity == .lease(.seconds(120)))
        #expect(try without(#","outage":{"\#(engine.rawValue)":"allow"}"#).terms?.validity == .lease(.seconds(300)))
        #expect(try without(#","outage":{"\#(engine.rawValue)":"refuse"}"#).word == "storeUnavailable")
    }

    @Test func `a policy that counts nothing is unaffected`() throws {
        let decision = try Scene.decision(Self.lease) { $0.account.outages = [.sessionStore, .tokenStore] }
        #expect(decision.terms?.validity == .lease(.seconds(300)))
    }

    @Test func `a download that cannot be counted lasts two minutes`() throws {
        let decision = try Scene.decision(#""download":{"allow":true,"storage":"30d","perAccount":3}"#) {
            $0.request.purpose = .download
            $0.account.outages = [.sessionStore]
        }
        #expect(decision.terms?.validity == .persistentFor(.seconds(120)))
    }

    @Test func `a token does not widen the policy's defaults`() throws {
        for (grant, seconds) in [("allow", 120), ("allow:1m", 60), ("allow:10m", 120)] {
            let narrower = try Scene.policy(#""outage":{"sessionStore":"\#(grant)"}"#)
            let decision = try Scene.decision(#"\#(Self.lease),"concurrency":{"limit":1}"#) {
                $0.account.outages = [.sessionStore]
                $0.grant.policy = narrower
            }
            #expect(decision.terms?.validity == .lease(.seconds(seconds)))
        }
    }

    @Test(arguments: [
        ("Server/Policies.md", "**A policy that states none means `RULE`**"),
        ("Server/Outages.md", "leases of two minutes at most** (`RULE`)"),
        ("Server/Operations.md", "A policy that states none means `RULE`"),
        ("Server/Downloads.md", "with `RULE`, which is the default"),
        ("Server/Settings.md", "cannot be counted. Defaults to `RULE`, for policies that count something"),
    ])
    func `each page has the code's default`(_ page: String, _ sentence: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Documentation")
        let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
        guard case .allowFor(let lease) = Policy.Outage.usual else {
            Issue.record("the pages say that a lease is given")
            return
        }
        #expect(text.contains(sentence.replacing("RULE", with: "allow:\(DurationText.text(lease))")))
    }
}
