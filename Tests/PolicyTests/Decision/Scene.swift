import Foundation
import LatchkeyCore
import LatchkeyFairPlay

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Facts and policies of the tests: one account, one content, one device, on a Sunday in November.
enum Scene {
    static let now = Date(timeIntervalSince1970: 1_795_359_600)

    static func policy(_ members: String) throws -> Policy {
        try Policy(json: Data(#"{"version":1\#(members.isEmpty ? "" : ",")\#(members)}"#.utf8))
    }

    /// A start of an HD key, with a token and a session.
    static func facts(_ change: (inout Facts) -> Void = { _ in }) -> Facts {
        var facts = Facts()
        facts.now = now
        facts.request.tenant = "demo"
        facts.request.playback = .readyToStart
        facts.request.session = PlaybackSessionID(rawValue: 1)
        facts.request.device = "d1"
        facts.request.address = AddressRange("192.0.2.7")
        facts.request.country = "DE"
        facts.request.capabilities = [.hdcpEnforcement]
        facts.request.protocolVersion = 1
        facts.grant.account = "anna"
        facts.grant.tokenID = "t1"
        facts.grant.issued = now - 60
        facts.grant.label = "Kitchen"
        facts.key.id = KeyID("00112233-4455-6677-8899-aabbccddeeff")
        facts.key.content = "movie"
        facts.key.track = .hd
        change(&facts)
        return facts
    }

    static func slot(
        _ session: String, fence: Int, device: String? = nil, tracks: Set<TrackClass> = [.hd], ends: TimeInterval = 300,
        content: String = "movie", profile: String? = nil
    ) -> Slot {
        Slot(
            session: session, device: device, label: device, profile: profile, content: content, tracks: tracks,
            fence: fence, started: now - 600 + TimeInterval(fence), ends: now + ends)
    }

    static func decision(_ policy: String, _ change: (inout Facts) -> Void = { _ in }) throws -> Decision {
        decide(facts(change), by: try self.policy(policy))
    }
}

extension JSONProblems {
    var places: [String] { problems.map(\.place) }
}
