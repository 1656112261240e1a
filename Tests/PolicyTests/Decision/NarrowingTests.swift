import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision

/// The changes that a grant may make to a policy.
@Suite(.timeLimit(.minutes(5))) struct NarrowingTests {
    static let members: [(policy: String, grant: String, result: String)] = [
        (
            #""validity":{"type":"lease","lease":"5m"}"#, #""validity":{"type":"lease","lease":"2m"}"#,
            #""validity":{"type":"lease","lease":"2m"}"#
        ),
        (
            #""validity":{"type":"lease","lease":"5m"}"#, #""validity":{"type":"unlimited"}"#,
            #""validity":{"type":"lease","lease":"5m"}"#
        ),
        (
            #""validity":{"type":"lease","lease":"5m"}"#, #""validity":{"type":"rental","rental":"1h"}"#,
            #""validity":{"type":"leaseAndRental","lease":"5m","rental":"1h"}"#
        ),
        (
            #""validity":{"type":"lease","lease":"5m"}"#, #""validity":{"type":"persistent"}"#,
            #""validity":{"type":"lease","lease":"5m"}"#
        ),
        (
            #""validity":{"type":"persistent"}"#, #""validity":{"type":"dualExpiry","storage":"7d","playback":"1d"}"#,
            #""validity":{"type":"dualExpiry","storage":"7d","playback":"1d"}"#
        ),
        (
            #""validity":{"begin":"2026-01-01T00:00:00Z"}"#, #""validity":{"begin":"2025-01-01T00:00:00Z"}"#,
            #""validity":{"begin":"2026-01-01T00:00:00Z"}"#
        ),
        (
            #""validity":{"end":"2026-01-01T00:00:00Z"}"#, #""validity":{"end":"2025-01-01T00:00:00Z"}"#,
            #""validity":{"end":"2025-01-01T00:00:00Z"}"#
        ),
        (#""validity":{"renewAt":0.8}"#, #""validity":{"renewAt":0.5}"#, #""validity":{"renewAt":0.8}"#),
        (#""stream":{"allow":true}"#, #""stream":{"allow":false}"#, #""stream":{"allow":false}"#),
        (#""stream":{"allow":false}"#, #""stream":{"allow":true}"#, #""stream":{"allow":false}"#),
        ("", #""download":{"allow":true}"#, ""),
        (#""download":{"perTitle":3}"#, #""download":{"perTitle":9}"#, #""download":{"perTitle":3}"#),
        (#""tracks":{"allow":["SD","HD"]}"#, #""tracks":{"allow":["HD","UHD1"]}"#, #""tracks":{"allow":["HD"]}"#),
        (
            #""output":{"hdcp":{"HD":"type0"}}"#, #""output":{"hdcp":{"HD":"notRequired","SD":"type1"}}"#,
            #""output":{"hdcp":{"HD":"type0","SD":"type1"}}"#
        ),
        ("", #""output":{"hdcp":{"HD":"notRequired"}}"#, ""), ("", #""validity":{"type":"persistent"}"#, ""),
        (#""output":{"airPlay":"lease:5m"}"#, #""output":{"airPlay":"lease:2m"}"#, #""output":{"airPlay":"lease:2m"}"#),
        (#""output":{"airPlay":"lease:5m"}"#, #""output":{"airPlay":"allow"}"#, #""output":{"airPlay":"lease:5m"}"#),
        (#""output":{"adapter":"refuse"}"#, #""output":{"adapter":"lease:5m"}"#, #""output":{"adapter":"refuse"}"#),
        (#""devices":{"limit":5}"#, #""devices":{"limit":2,"window":"60d"}"#, #""devices":{"limit":2,"window":"60d"}"#),
        (#""devices":{"window":"30d"}"#, #""devices":{"window":"1d"}"#, #""devices":{"window":"30d"}"#),
        (
            #""concurrency":{"mode":"count"}"#, #""concurrency":{"mode":"refuseNewest"}"#,
            #""concurrency":{"mode":"refuseNewest"}"#
        ),
        ("", #""concurrency":{"mode":"stopOldest"}"#, ""),
        (
            #""concurrency":{"scope":"account"}"#, #""concurrency":{"scope":"title"}"#,
            #""concurrency":{"scope":"account"}"#
        ),
        (
            #""concurrency":{"perClass":{"UHD":2}}"#, #""concurrency":{"perClass":{"UHD":1,"HD":2}}"#,
            #""concurrency":{"perClass":{"UHD":1,"HD":2}}"#
        ),
        (
            #""place":{"allow":["DE","AT"]}"#, #""place":{"allow":["AT","FR"],"deny":["CH"]}"#,
            #""place":{"allow":["AT"],"deny":["CH"]}"#
        ),
        (
            #""place":{"addresses":["192.0.2.0/24"]}"#, #""place":{"addresses":["192.0.2.64/26","198.51.100.0/24"]}"#,
            #""place":{"addresses":["192.0.2.64/26"]}"#
        ),
        (
            #""place":{"whenUnknown":"allow"}"#, #""place":{"whenUnknown":"refuse"}"#,
            #""place":{"whenUnknown":"refuse"}"#
        ),
        (
            #""token":{"singleUse":true}"#, #""token":{"singleUse":false,"maxAge":"1m"}"#,
            #""token":{"singleUse":true,"maxAge":"1m"}"#
        ),
        ("", #""token":{"mayWiden":["stream.allow"]}"#, ""),
        (#""blocked":{"users":["a"]}"#, #""blocked":{"users":["b"]}"#, #""blocked":{"users":["a","b"]}"#),
        (
            #""outage":{"sessionStore":"allow:2m"}"#, #""outage":{"sessionStore":"allow"}"#,
            #""outage":{"sessionStore":"allow:2m"}"#
        ),
        ("", #""outage":{"callout":"allow"}"#, ""),
        (
            #""limits":{"licensesPerMinute":9}"#, #""limits":{"licensesPerMinute":6}"#,
            #""limits":{"licensesPerMinute":6}"#
        ),
        (#""messages":{"place":"a"}"#, #""messages":{"place":"b"}"#, #""messages":{"place":"a"}"#),
    ]

    @Test(arguments: members.indices) func `a grant makes members stricter and never wider`(_ index: Int) throws {
        let given = Self.members[index]
        let narrowed = try Scene.policy(given.policy).narrowed(to: try Scene.policy(given.grant))
        #expect(narrowed.policy == (try Scene.policy(given.result)), "\(given)")
        #expect(!narrowed.notes.isEmpty)
    }

    @Test func `only a member that the policy names may become wider`() throws {
        let policy = try Scene.policy(
            #""download":{"allow":false},"stream":{"allow":false},"token":{"mayWiden":["download.allow","validity.type"]}"#
        )
        let grant = try Scene.policy(
            #""download":{"allow":true},"stream":{"allow":true},"validity":{"type":"persistent"}"#)
        let narrowed = policy.narrowed(to: grant)
        #expect(narrowed.policy.download.allow == true)
        #expect(narrowed.policy.validity.type == .persistent)
        #expect(narrowed.policy.stream.allow == false)
        #expect(Set(narrowed.notes.map(\.code)) == [.replacedByGrant, .grantIgnored])
    }

    @Test func `a grant's changes are noted with the decision`() throws {
        let grant = try Scene.policy(#""validity":{"type":"lease","lease":"1m"},"stream":{"allow":true}"#)
        let decision = try Scene.decision(#""validity":{"type":"lease","lease":"5m"},"stream":{"allow":false}"#) {
            $0.grant.policy = grant
        }
        #expect(decision.notes.map(\.code) == [.refused, .narrowedByGrant, .grantIgnored])
    }
}
