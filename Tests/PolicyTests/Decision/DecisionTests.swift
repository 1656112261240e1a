import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// One case of a table: a policy, a change of the usual facts, and the decision.
struct DecisionCase: Sendable, CustomTestStringConvertible {
    let policy: String
    let word: String
    let change: @Sendable (inout Facts) -> Void

    init(_ policy: String, _ word: String, _ change: @escaping @Sendable (inout Facts) -> Void = { _ in }) {
        (self.policy, self.word, self.change) = (policy, word, change)
    }

    var testDescription: String { "\(policy) → \(word)" }
}

/// Each rule alone: its grants and its refusals.
@Suite(.timeLimit(.minutes(5))) struct DecisionTests {
    private static let now = Scene.now

    static let token: [DecisionCase] = [
        DecisionCase("", "license"), DecisionCase("", "notCovered") { $0.grant.contents = ["other"] },
        DecisionCase("", "license") { $0.grant.contents = ["movie"] },
        DecisionCase("", "notCovered") { $0.grant.contents = [] },
        DecisionCase("", "license") { $0.grant.keys = ["00112233445566778899AABBCCDDEEFF"] },
        DecisionCase("", "notCovered") { $0.grant.keys = ["ff112233445566778899aabbccddeeff"] },
        DecisionCase("", "notCovered") { facts in
            facts.grant.keys = ["no key"]
            facts.key.id = nil
        },
        DecisionCase("", "tokenExpired") { $0.grant.expires = now },
        DecisionCase("", "license") { $0.grant.expires = now + 1 },
        DecisionCase(#""token":{"maxAge":"60s"}"#, "license"),
        DecisionCase(#""token":{"maxAge":"59s"}"#, "tokenExpired"),
        DecisionCase(#""token":{"maxAge":"60s"}"#, "tokenMalformed") { $0.grant.issued = nil },
        DecisionCase("", "notCovered") { $0.grant.address = AddressRange("192.0.2.8") },
        DecisionCase(#""token":{"bindIP":true}"#, "license") { $0.grant.address = AddressRange("192.0.2.7") },
        DecisionCase(#""token":{"bindIP":true}"#, "notCovered"),
        DecisionCase("", "notCovered") { facts in
            facts.grant.address = AddressRange("192.0.2.7")
            facts.request.address = nil
        },
        DecisionCase(#""token":{"singleUse":true}"#, "license"),
        DecisionCase(#""token":{"singleUse":true}"#, "tokenMalformed") { $0.grant.tokenID = nil },
        DecisionCase(#""token":{"singleUse":true}"#, "tokenUsed") {
            $0.account.tokenUse = .init(session: "x", first: now)
        },
        DecisionCase(#""token":{"singleUse":true}"#, "license") {
            $0.account.tokenUse = .init(session: "0000000000000001", first: now - 60)
        },
        DecisionCase(#""token":{"singleUse":true}"#, "tokenUsed") {
            $0.account.tokenUse = .init(session: "0000000000000001", first: now - 61)
        },
        DecisionCase(#""token":{"singleUse":true,"reuse":"2m"}"#, "license") {
            $0.account.tokenUse = .init(session: "0000000000000001", first: now - 61)
        },
        DecisionCase("", "license") { $0.account.tokenUse = .init(session: "x", first: now) },
    ]

    private static func block(_ kind: Block.Kind, until end: Date? = nil) -> Block {
        Block(Block.Subject(kind, "x", of: "demo"), reason: "stolen", by: "ops", since: Scene.now - 1, until: end)
    }

    static let blocks: [DecisionCase] = [
        DecisionCase("", "accountBlocked") { $0.account.blocks = [block(.account)] },
        DecisionCase("", "deviceBlocked") { $0.account.blocks = [block(.device, until: Scene.now + 1)] },
        DecisionCase("", "license") { $0.account.blocks = [block(.account, until: Scene.now)] },
        DecisionCase(#""blocked":{"users":["anna"]}"#, "blocked"),
        DecisionCase(#""blocked":{"users":["ann"]}"#, "license"),
        DecisionCase(#""blocked":{"users":["kid"]}"#, "blocked") { $0.grant.profile = "kid" },
        DecisionCase(#""blocked":{"devices":["d1"]}"#, "blocked"),
        DecisionCase(#""blocked":{"devices":["d1"]}"#, "blocked") { $0.grant.device = "other" },
        DecisionCase(#""blocked":{"tokens":["t1"]}"#, "blocked"),
        DecisionCase(#""blocked":{"contents":["movie"]}"#, "blocked"),
        DecisionCase(#""limits":{"licensesPerMinute":2}"#, "rateLimit") {
            $0.account.minute = .init(began: now - 59, licenses: 2)
        },
        DecisionCase(#""limits":{"licensesPerMinute":2}"#, "license") {
            $0.account.minute = .init(began: now - 60, licenses: 2)
        },
        DecisionCase(#""limits":{"licensesPerMinute":2}"#, "license") {
            $0.account.minute = .init(began: now - 1, licenses: 1)
        },
    ]

    static let times: [DecisionCase] = [
        DecisionCase(#""validity":{"begin":"2026-11-22T17:00:01Z"}"#, "notBegun") {
            $0.now = Self.date("2026-11-22T17:00:00Z")
        },
        DecisionCase(#""validity":{"begin":"2026-11-22T17:00:00Z"}"#, "license") {
            $0.now = Self.date("2026-11-22T17:00:00Z")
        },
        DecisionCase(#""validity":{"end":"2026-11-22T17:00:00Z"}"#, "ended") {
            $0.now = Self.date("2026-11-22T17:00:00Z")
        },
        DecisionCase(#""validity":{"end":"2026-11-22T17:00:01Z"}"#, "license") {
            $0.now = Self.date("2026-11-22T17:00:00Z")
        },
        DecisionCase(#""validity":{"afterFirstPlay":"48h"}"#, "license"),
        DecisionCase(#""validity":{"afterFirstPlay":"48h"}"#, "ended") {
            $0.account.firstPlays["movie"] = now - 48 * 3_600
        },
        DecisionCase(#""validity":{"afterFirstPlay":"48h"}"#, "license") {
            $0.account.firstPlays = ["movie": now - 48 * 3_600 + 1]
        },
    ]

    static let rights: [DecisionCase] = [
        DecisionCase(#""stream":{"allow":false}"#, "right"),
        DecisionCase("", "right") { $0.request.purpose = .download },
        DecisionCase(#""download":{"allow":true}"#, "license") { $0.request.purpose = .download },
        DecisionCase(#""validity":{"type":"persistent"}"#, "license") { $0.request.purpose = .download },
        DecisionCase(#""validity":{"type":"persistent"},"download":{"allow":false}"#, "right") {
            $0.request.purpose = .download
        },
        DecisionCase(#""validity":{"type":"persistent"},"download":{"allow":false}"#, "license"),
        DecisionCase(#""download":{"allow":true}"#, "license") { $0.request.purpose = .renewStored },
        DecisionCase(#""download":{"allow":true,"renew":false}"#, "right") { $0.request.purpose = .renewStored },
        DecisionCase(#""download":{"allow":true,"perTitle":1}"#, "downloadLimit") {
            $0.request.purpose = .download
            $0.account.downloads = [StoredDownload(content: "movie", device: "d2")]
        },
        DecisionCase(#""download":{"allow":true,"perTitle":1}"#, "license") {
            $0.request.purpose = .download
            $0.account.downloads = [
                StoredDownload(content: "movie", device: "d1"), StoredDownload(content: "other", device: "d2"),
            ]
        },
        DecisionCase(#""download":{"allow":true,"perAccount":1}"#, "downloadLimit") {
            $0.request.purpose = .download
            $0.account.downloads = [StoredDownload(content: "other", device: "d2")]
        },
        DecisionCase(#""tracks":{"allow":["SD"]}"#, "track"),
        DecisionCase(#""tracks":{"allow":["SD","HD"]}"#, "license"),
        DecisionCase(#""tracks":{"allow":["UHD"]}"#, "license") { $0.key.track = .uhd2 },
        DecisionCase(#""tracks":{"allow":["AUDIO","SD","HD","UHD"]}"#, "track") { $0.key.track = .all },
        DecisionCase(#""tracks":{"allow":["ALL"]}"#, "license") { $0.key.track = .all },
        DecisionCase(#""tracks":{"allow":["ALL"]}"#, "license"),
    ]

    static let outputs: [DecisionCase] = [
        DecisionCase(#""output":{"airPlay":"refuse"}"#, "license"),
        DecisionCase(#""output":{"airPlay":"refuse"}"#, "output") { $0.request.destination = .airPlay },
        DecisionCase(#""output":{"airPlay":"refuse"}"#, "license") { $0.request.destination = .digitalAVAdapter },
        DecisionCase(#""output":{"adapter":"refuse"}"#, "output") { $0.request.destination = .digitalAVAdapter },
        DecisionCase(#""output":{"airPlay":"lease:2m"}"#, "license") { $0.request.destination = .airPlay },
        DecisionCase(#""output":{"airPlay":"lease:2m"},"download":{"allow":true}"#, "output") {
            $0.request.destination = .airPlay
            $0.request.purpose = .download
        },
        DecisionCase(#""output":{"hdcp":{"HD":"type1"}}"#, "license"),
        DecisionCase(#""output":{"hdcp":{"HD":"type1"}}"#, "output") { $0.request.capabilities = [] },
        DecisionCase(#""output":{"hdcp":{"UHD":"type1"}}"#, "license") { $0.request.capabilities = [] },
        DecisionCase(#""output":{"hdcp":{"UHD":"type1"}}"#, "output") {
            $0.request.capabilities = []
            $0.key.track = .all
        },
        DecisionCase(#""client":{"requires":["offlineKey"]}"#, "client"),
        DecisionCase(#""client":{"requires":["hdcpEnforcement"]}"#, "license"),
        DecisionCase(#""client":{"protocolVersions":[2]}"#, "client"),
        DecisionCase(#""client":{"protocolVersions":[1]}"#, "license"),
    ]

    static let places: [DecisionCase] = [
        DecisionCase(#""place":{"allow":["DE"]}"#, "license"), DecisionCase(#""place":{"allow":["AT"]}"#, "place"),
        DecisionCase(#""place":{"deny":["DE"]}"#, "place"), DecisionCase(#""place":{"deny":["AT"]}"#, "license"),
        DecisionCase(#""place":{"deny":["AT"]}"#, "place") { $0.request.country = nil },
        DecisionCase(#""place":{"deny":["AT"],"whenUnknown":"allow"}"#, "license") { $0.request.country = nil },
        DecisionCase("", "license") { $0.request.country = nil },
        DecisionCase(#""place":{"allow":["DE"],"trust":"database"}"#, "place"),
        DecisionCase(#""place":{"allow":["DE"],"trust":"database"}"#, "license") {
            $0.request.countrySource = .database
        },
        DecisionCase(#""place":{"anonymizers":"refuse"}"#, "place") { $0.request.isAnonymized = true },
        DecisionCase(#""place":{"anonymizers":"refuse"}"#, "license"),
        DecisionCase("", "license") { $0.request.isAnonymized = true },
        DecisionCase(#""place":{"addresses":["192.0.2.0/24"]}"#, "license"),
        DecisionCase(#""place":{"addresses":["198.51.100.0/24"]}"#, "place"),
        DecisionCase(#""place":{"addresses":["0.0.0.0/0"]}"#, "place") { $0.request.address = nil },
        DecisionCase(#""place":{"denyAddresses":["192.0.2.0/24"]}"#, "place"),
    ]

    static let devices: [DecisionCase] = [
        DecisionCase(#""devices":{"limit":1}"#, "license"),
        DecisionCase(#""devices":{"limit":1}"#, "deviceLimit") { $0.account.devices = ["d2": now] },
        DecisionCase(#""devices":{"limit":1}"#, "license") { $0.account.devices = ["d2": now, "d1": now - 86_400] },
        DecisionCase(#""devices":{"limit":1}"#, "license") { $0.account.devices = ["d2": now - 30 * 86_400] },
        DecisionCase(#""devices":{"limit":1,"window":"90d"}"#, "deviceLimit") {
            $0.account.devices = ["d2": now - 30 * 86_400]
        },
        DecisionCase(#""devices":{"limit":1}"#, "license") {
            $0.account.devices = ["d2": now]
            $0.request.playback = .leaseExpiring
        },
        DecisionCase(#""devices":{"limit":1}"#, "license") {
            $0.account.devices = ["tv": now]
            $0.grant.device = "tv"
        },
        DecisionCase(#""devices":{"allow":["d2"]}"#, "deviceLimit"),
        DecisionCase(#""devices":{"allow":["d1"]}"#, "license"),
    ]

    static let outages: [DecisionCase] = [
        DecisionCase(#""concurrency":{"limit":1}"#, "sessionLimit") {
            $0.account.outages = [.sessionStore]
            $0.account.slots = [Scene.slot("x", fence: 1)]
        },
        DecisionCase(#""concurrency":{"limit":1},"outage":{"sessionStore":"refuse"}"#, "storeUnavailable") {
            $0.account.outages = [.sessionStore]
        },
        DecisionCase(#""outage":{"sessionStore":"refuse"}"#, "license") { $0.account.outages = [.sessionStore] },
        DecisionCase(#""devices":{"limit":1},"outage":{"sessionStore":"refuse"}"#, "storeUnavailable") {
            $0.account.outages = [.sessionStore]
        },
        DecisionCase(#""token":{"singleUse":true}"#, "tokenUsed") {
            $0.account.outages = [.tokenStore]
            $0.account.tokenUse = .init(session: "x", first: now)
        },
        DecisionCase(#""token":{"singleUse":true},"outage":{"tokenStore":"refuse"}"#, "storeUnavailable") {
            $0.account.outages = [.tokenStore]
        },
        DecisionCase(#""place":{"allow":["DE"]},"outage":{"geo":"allow"}"#, "license") {
            $0.account.outages = [.geo]
            $0.request.country = nil
        },
        DecisionCase(#""place":{"allow":["DE"]},"outage":{"geo":"refuse"}"#, "storeUnavailable") {
            $0.account.outages = [.geo]
            $0.request.country = nil
        },
        DecisionCase(#""place":{"allow":["DE"]}"#, "place") {
            $0.account.outages = [.geo]
            $0.request.country = nil
        },
        DecisionCase("", "storeUnavailable") { $0.account.outages = [.callout] },
        DecisionCase(#""outage":{"callout":"allow"}"#, "license") { $0.account.outages = [.callout] },
    ]

    @Test(arguments: token + blocks + times + rights + outputs + places + devices + outages)
    func `each rule grants and refuses`(_ given: DecisionCase) throws {
        let decision = try Scene.decision(given.policy, given.change)
        #expect(decision.word == given.word)
        #expect((decision.refusal == nil) == !decision.notes.contains { $0.code == .refused })
    }

    @Test func `every objection of a policy has a case`() {
        let all =
            Self.token + Self.blocks + Self.times + Self.rights + Self.outputs + Self.places + Self.devices
            + Self.outages
        let words = Set((all + ConcurrencyTests.cases).map(\.word))
        let ofTheServer: Set = ["stopping"]
        #expect(Set(PolicyObjection.allCases.map(\.rawValue)).subtracting(words) == ofTheServer)
        #expect(
            words.isSuperset(of: [
                "license", "sessionLimit", "tokenExpired", "tokenUsed", "tokenMalformed", "notCovered",
            ]))
    }

    @Test func `all reasons are noted, and the first in the fixed order is the refusal`() throws {
        let decision = try Scene.decision(
            #""tracks":{"allow":["SD"]},"place":{"allow":["AT"]},"blocked":{"users":["anna"]},"stream":{"allow":false}"#
        ) { $0.grant.expires = Scene.now }
        let codes = decision.notes.filter { $0.code == .refused }.map { $0.text.prefix { $0 != ":" } }
        #expect(codes == ["tokenExpired", "blocked", "right", "place", "track"])
        #expect(decision.word == "tokenExpired")
        #expect(decision.change == .none)
    }

    @Test func `a class that may be omitted is refused for its key alone`() throws {
        #expect(try Scene.decision(#""tracks":{"allow":["SD"],"otherwise":"leaveOut"}"#).refusal?.leavesOut == true)
        #expect(try Scene.decision(#""tracks":{"allow":["SD"]}"#).refusal?.leavesOut == false)
    }

    @Test func `the refusing section provides the policy's message`() throws {
        let refusal = try Scene.decision(#""place":{"allow":["AT"]},"messages":{"place":"not-here","token":"x"}"#)
            .refusal
        #expect(refusal?.message == "not-here")
        #expect(try Scene.decision(#""place":{"allow":["AT"]}"#).refusal?.message == "place")
    }

    private static func date(_ text: String) -> Date { DateText.date(text) ?? .distantPast }
}
