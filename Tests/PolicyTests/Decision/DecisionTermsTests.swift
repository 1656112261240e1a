import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// The terms on which a license is granted.
@Suite(.timeLimit(.minutes(5))) struct DecisionTermsTests {
    typealias Validity = LicenseTerms.Validity

    static let streams: [(String, Validity)] = [
        ("", .unlimited), (#""validity":{"type":"unlimited"}"#, .unlimited),
        (#""validity":{"type":"lease","lease":"5m"}"#, .lease(.seconds(300))),
        (#""validity":{"type":"rental","rental":"2d"}"#, .rental(.seconds(172_800))),
        (
            #""validity":{"type":"leaseAndRental","lease":"5m","rental":"2h"}"#,
            .leaseAndRental(lease: .seconds(300), rental: .seconds(7_200))
        ),
        (#""validity":{"type":"persistent"}"#, .persistent),
        (#""validity":{"type":"persistentFor","storage":"1d"}"#, .persistentFor(.seconds(86_400))),
        (
            #""validity":{"type":"dualExpiry","storage":"1d","playback":"2h"}"#,
            .dualExpiry(storage: .seconds(86_400), playback: .seconds(7_200))
        ),
        (#""validity":{"type":"persistentFor","storage":"1d"},"download":{"allow":false}"#, .rental(.seconds(86_400))),
        (#""validity":{"type":"lease","lease":"5m"},"output":{"airPlay":"lease:2m"}"#, .lease(.seconds(300))),
    ]

    @Test(arguments: streams) func `a stream has the policy's validity`(_ policy: String, _ validity: Validity) throws {
        #expect(try Scene.decision(policy).terms?.validity == validity)
    }

    static let downloads: [(String, Validity)] = [
        (#""download":{"allow":true}"#, .persistent),
        (#""download":{"allow":true,"storage":"1d"}"#, .persistentFor(.seconds(86_400))),
        (
            #""download":{"allow":true,"storage":"1d","playback":"2h"}"#,
            .dualExpiry(storage: .seconds(86_400), playback: .seconds(7_200))
        ),
        (#""download":{"allow":true,"playback":"2h"}"#, .dualExpiry(storage: .longest, playback: .seconds(7_200))),
        (
            #""validity":{"type":"lease","lease":"5m"},"download":{"allow":true,"storage":"1d"}"#,
            .persistentFor(.seconds(86_400))
        ),
        (
            #""validity":{"type":"persistentFor","storage":"1h"},"download":{"storage":"1d"}"#,
            .persistentFor(.seconds(3_600))
        ),
    ]

    @Test(arguments: downloads) func `a download has storage and playback`(_ policy: String, _ validity: Validity)
        throws
    {
        #expect(try Scene.decision(policy) { $0.request.purpose = .download }.terms?.validity == validity)
    }

    @Test func `AirPlay and an outage shorten the lease`() throws {
        let airPlay = try Scene.decision(#""output":{"airPlay":"lease:2m"}"#) { $0.request.destination = .airPlay }
        #expect(airPlay.terms?.validity == .lease(.seconds(120)))
        let outage = try Scene.decision(#""concurrency":{"limit":1},"outage":{"sessionStore":"allow:90s"}"#) {
            $0.account.outages = [.sessionStore]
        }
        #expect(outage.terms?.validity == .lease(.seconds(90)))
        #expect(outage.change.slot?.ends == Scene.now + 110)
        #expect(outage.notes.map(\.code).contains(.outage))
    }

    @Test(arguments: [
        ("", Validity.lease(.seconds(100))), (#""type":"lease","lease":"5m","#, .lease(.seconds(100))),
        (#""type":"lease","lease":"90s","#, .lease(.seconds(90))),
        (#""type":"persistent","#, .persistentFor(.seconds(100))),
        (
            #""type":"dualExpiry","storage":"1d","playback":"2h","#,
            .dualExpiry(storage: .seconds(100), playback: .seconds(100))
        ),
        (#""type":"rental","rental":"1d","#, .leaseAndRental(lease: .seconds(100), rental: .seconds(100))),
    ])
    func `no license outlasts the right`(_ type: String, _ validity: Validity) throws {
        let end = DateText.text(Scene.now + 100)
        let decision = try Scene.decision(#""validity":{\#(type)"end":"\#(end)"}"#)
        #expect(decision.terms?.validity == validity)
        #expect(decision.notes.map(\.code).contains(.remaining))
    }

    @Test(arguments: [(100.9, 100), (2, 2), (1, 1), (0.5, 1)])
    func `a license ends with the right, and lasts at least a whole second`(
        _ left: Double, _ seconds: Int
    ) throws {
        let decision = try Scene.decision(#""validity":{"end":"\#(DateText.text(Scene.now + 200))"}"#) {
            $0.now = Scene.now + 200 - left
        }
        #expect(decision.terms?.validity == .lease(.seconds(seconds)))
    }

    @Test func `a first play starts the window`() throws {
        let decision = try Scene.decision(#""validity":{"afterFirstPlay":"48h"}"#) {
            $0.account.firstPlays = ["movie": Scene.now - 3_600]
        }
        #expect(decision.terms?.validity == .lease(.seconds(47 * 3_600)))
    }

    static let hdcp: [(String, TrackClass, HDCPRequirement?)] = [
        ("{}", .hd, nil), (#"{"HD":"notRequired"}"#, .hd, .notRequired), (#"{"HD":"notRequired"}"#, .sd, nil),
        (#"{"UHD":"type1"}"#, .uhd1, .type1), (#"{"UHD":"type1","UHD1":"type0"}"#, .uhd1, .type0),
        (#"{"UHD":"type1","UHD1":"type0"}"#, .uhd2, .type1), (#"{"HD":"notRequired"}"#, .all, nil),
        (#"{"HD":"notRequired","SD":"type0"}"#, .all, .type0), (#"{"ALL":"notRequired"}"#, .all, .notRequired),
        (#"{"ALL":"notRequired","UHD":"type1"}"#, .all, .type1),
    ]

    @Test(arguments: hdcp)
    func `HDCP is that of the class, and the strictest for a key for everything`(
        _ stated: String, _ track: TrackClass, _ hdcp: HDCPRequirement?
    ) throws {
        let decision = try Scene.decision(#""output":{"hdcp":\#(stated)}"#) { $0.key.track = track }
        #expect(decision.terms?.hdcp == hdcp)
        #expect(decision.terms != nil)
    }

    @Test func `a renewal precedes the lease's end, spread by the session`() throws {
        func renewal(_ session: UInt64, _ members: String) throws -> Duration? {
            let decision = try Scene.decision(#""validity":{"type":"lease","lease":"1000s"\#(members)}"#) {
                $0.request.session = PlaybackSessionID(rawValue: session)
            }
            guard case .license(_, _, let renewAfter, _, _) = decision else { return nil }
            return renewAfter
        }
        #expect(try renewal(1, #","jitter":0"#) == .seconds(800))
        #expect(try renewal(1, #","jitter":0,"renewAt":0.5"#) == .seconds(500))
        let spread = try (0..<200).compactMap { try renewal($0, "") }
        #expect(Set(spread).count > 20)
        #expect(spread.allSatisfy { (.seconds(719)...(.seconds(800))).contains($0) })
        #expect(try renewal(7, "") == renewal(7, ""))
        #expect(try Scene.decision("").renewAfter == nil)
    }

    @Test func `a player that needs no key gets a duration, and a stopped one gets none`() throws {
        let playing = try Scene.decision("") { $0.request.playback = .playing }
        guard case .license(_, _, _, let delivers, _) = playing else { throw JSONProblems(code: "x", problems: []) }
        #expect(delivers == .duration)
        let stopped = try Scene.decision(#""blocked":{"users":["anna"]}"#) {
            $0.request.playback = .stopped
            $0.account.slots = [Scene.slot("0000000000000001", fence: 1)]
        }
        #expect(stopped == .acknowledge(.release("0000000000000001"), notes: []))
        #expect(try Scene.decision("") { $0.request.playback = .stopped } == .acknowledge(.none, notes: []))
    }
}

extension Decision {
    fileprivate var renewAfter: Duration? {
        guard case .license(_, _, let renewAfter, _, _) = self else { return nil }
        return renewAfter
    }
}
