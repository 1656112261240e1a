import Foundation
import LatchkeyCore
import LatchkeyFairPlay

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Policies and facts by seed, from small sets of values, so that rules and facts meet.
struct RandomScene {
    private var generator: SeededGenerator

    init(_ seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func pick<Element>(_ values: Element...) -> Element {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < part }

    mutating func some<Element>(_ values: Element...) -> [Element] {
        values.shuffled(using: &generator).prefix(Int.random(in: 1...values.count, using: &generator)).map { $0 }
    }

    mutating func shuffled<Element>(_ values: [Element]) -> [Element] { values.shuffled(using: &generator) }

    // MARK: Policies

    /// The members of a policy, without impossible values.
    mutating func policyMembers() -> String {
        let sections: [(String, [String])] = [
            ("validity", validity()),
            ("stream", [flag("allow", true, true, true, false)]),
            ("download", download()),
            (
                "tracks",
                [
                    list("allow", some("AUDIO", "SD", "HD", "UHD", "UHD1", "ALL")),
                    text("otherwise", "refuse", "leaveOut"),
                ]
            ),
            ("output", output()),
            (
                "client",
                [
                    list("requires", some("hdcpEnforcement", "offlineKey")),
                    #""protocolVersions":\#(pick("[1]", "[1,2]", "[2]"))"#,
                ]
            ),
            (
                "devices",
                [number("limit", 1, 2, 3), text("window", "1d", "30d"), list("allow", some("d1", "d2", "d3"))]
            ),
            ("concurrency", concurrency()), ("place", place()), ("token", token()),
            (
                "blocked",
                [
                    list("users", some("bert", "anna")), list("devices", some("d3")), list("tokens", some("t2")),
                    list("contents", some("clip", "movie")),
                ]
            ),
            ("limits", [number("licensesPerMinute", 1, 5, 60)]),
            ("outage", outage()),
        ]
        return sections.compactMap { name, members in section(name, members) }.joined(separator: ",")
    }

    private mutating func section(_ name: String, _ members: [String]) -> String? {
        guard chance(0.3) else { return nil }
        let chosen = members.filter { _ in chance(0.5) }
        return #""\#(name)":{\#(chosen.joined(separator: ","))}"#
    }

    private mutating func text(_ name: String, _ values: String...) -> String {
        #""\#(name)":"\#(values[Int.random(in: 0..<values.count, using: &generator)])""#
    }

    private mutating func number(_ name: String, _ values: Int...) -> String {
        #""\#(name)":\#(values[Int.random(in: 0..<values.count, using: &generator)])"#
    }

    private mutating func flag(_ name: String, _ values: Bool...) -> String {
        #""\#(name)":\#(values[Int.random(in: 0..<values.count, using: &generator)])"#
    }

    private func list(_ name: String, _ values: [String]) -> String {
        #""\#(name)":[\#(values.map { "\"\($0)\"" }.joined(separator: ","))]"#
    }

    private mutating func validity() -> [String] {
        [
            pick(
                #""type":"unlimited""#, #""type":"lease","lease":"5m""#, #""type":"lease","lease":"90s""#,
                #""type":"rental","rental":"2h""#, #""type":"leaseAndRental","lease":"10m","rental":"1h""#,
                #""type":"persistent""#, #""type":"persistentFor","storage":"7d""#,
                #""type":"dualExpiry","storage":"30d","playback":"2d""#),
            #""renewAt":0.5"#, #""begin":"2026-11-22T16:00:00Z""#,
            #""end":"\#(pick("2026-11-22T19:00:00Z", "2026-11-22T16:30:00Z", "2026-12-22T19:00:00Z"))""#,
            text("afterFirstPlay", "1h", "48h"),
        ]
    }

    private mutating func download() -> [String] {
        [
            #""allow":true"#, text("storage", "1d", "7d"), text("playback", "2h", "48h"), flag("renew", true, false),
            number("perTitle", 1, 2), number("perAccount", 2, 3),
        ]
    }

    private mutating func output() -> [String] {
        [
            #""hdcp":{"HD":"\#(pick("notRequired", "type0", "type1"))","UHD":"\#(pick("type0", "type1"))"}"#,
            text("airPlay", "allow", "refuse", "lease:1m", "lease:5m"), text("adapter", "allow", "refuse", "lease:2m"),
        ]
    }

    private mutating func concurrency() -> [String] {
        [
            text("scope", "account", "profile", "title", "class"), number("limit", 1, 2, 3),
            text("mode", "refuseNewest", "stopOldest", "count"), text("grace", "0s", "30s"), text("heartbeat", "30s"),
            #""perClass":{"UHD":1}"#,
        ]
    }

    private mutating func place() -> [String] {
        [
            list("allow", some("DE", "AT", "FR")), #""deny":["CH"]"#, text("whenUnknown", "allow", "refuse"),
            text("trust", "header", "database"), text("anonymizers", "allow", "refuse"),
            list("addresses", some("192.0.2.0/24", "198.51.100.0/24", "2001:db8::/32")),
            #""denyAddresses":["192.0.2.128/25"]"#,
        ]
    }

    private mutating func token() -> [String] {
        [
            flag("singleUse", true, false), text("reuse", "30s", "10m"), text("maxAge", "30s", "10m"),
            flag("bindIP", false, false, true),
        ]
    }

    private mutating func outage() -> [String] {
        [
            text("sessionStore", "allow", "allow:2m", "refuse"), text("tokenStore", "allow", "refuse"),
            text("geo", "allow", "refuse"), text("callout", "allow", "refuse"),
        ]
    }

    mutating func policy() throws -> Policy { try Scene.policy(policyMembers()) }

    // MARK: Facts

    mutating func facts() -> Facts {
        var facts = Facts()
        facts.now = Scene.now + TimeInterval(Int.random(in: -4_000...4_000, using: &generator))
        fill(&facts.request)
        fill(&facts.grant, facts.now)
        facts.key.id = KeyID("00112233-4455-6677-8899-aabbccddeeff")
        facts.key.content = pick("movie", "show", "clip")
        facts.key.track = pick(.audio, .sd, .hd, .uhd1, .uhd2, .all)
        fill(&facts.account, facts.now)
        return facts
    }

    private mutating func fill(_ request: inout LicenseRequestFacts) {
        request.purpose = chance(0.7) ? .stream : pick(.download, .renewStored)
        request.playback = pick(
            nil, .readyToStart, .readyToStart, .leaseExpiring, .playing, .stopped, PlaybackState(rawValue: 7))
        request.session = pick(nil, PlaybackSessionID(rawValue: 1), PlaybackSessionID(rawValue: 2))
        request.destination = pick(.device, .device, .airPlay, .digitalAVAdapter)
        request.capabilities = pick([], .hdcpEnforcement, [.hdcpEnforcement, .offlineKey])
        request.protocolVersion = pick(nil, 1, 2)
        request.device = pick(nil, "d1", "d2", "d3")
        request.address = AddressRange(pick("192.0.2.7", "192.0.2.200", "2001:db8::1", ""))
        request.country = pick(nil, "DE", "AT", "CH")
        request.countrySource = pick(.header, .database)
        request.isAnonymized = pick(nil, false, true)
        request.userAgent = pick(nil, "player \u{1b}[31m\"\\", "ж")
        request.stopCodes = pick([], ["1"], ["2", "3"])
    }

    private mutating func fill(_ grant: inout Grant, _ now: Date) {
        grant.account = pick("anna", "bert")
        grant.profile = pick(nil, "kid")
        grant.session = pick(nil, "s1", "s2")
        grant.tokenID = pick(nil, "t1", "t2")
        grant.issued = pick(nil, now - 10, now - 300, now - 3_000)
        grant.expires = chance(0.1) ? now : pick(nil, now + 100, now + 1_000)
        grant.address = AddressRange(pick("", "", "", "192.0.2.7"))
        grant.contents = pick(nil, nil, nil, ["movie", "show"])
        grant.keys = pick(nil, nil, ["00112233-4455-6677-8899-aabbccddeeff"])
    }

    private mutating func fill(_ account: inout AccountState, _ now: Date) {
        for fence in 0..<Int.random(in: 0...4, using: &generator) {
            account.slots.append(
                Slot(
                    session: pick("a", "b", "c", "s1", "0000000000000001"), device: pick(nil, "d1", "d2"), label: nil,
                    profile: pick(nil, "kid"), drm: pick(.fairPlay, .clearKey, .widevine, .playReady, .other),
                    content: pick("movie", "show"),
                    tracks: Set(some(TrackClass.audio, .sd, .hd, .uhd1)), fence: fence + 1, started: now - 600,
                    ends: now + pick(-1, 0, 30, 600)))
        }
        if chance(0.2) { account.stopped = [StoppedSession(session: pick("s1", "s2"), by: "TV", at: now - 5)] }
        for device in some("d1", "d2", "d4") where chance(0.5) { account.devices[device] = now - pick(10, 100_000) }
        for device in some("d1", "d2") where chance(0.4) {
            account.downloads.insert(StoredDownload(content: pick("movie", "show"), device: device))
        }
        if chance(0.3) { account.minute = .init(began: now - pick(1, 59, 60), licenses: pick(0, 1, 5, 60)) }
        if chance(0.3) { account.tokenUse = .init(session: pick("s1", "x"), first: now - pick(10, 100)) }
        if chance(0.3) { account.firstPlays[pick("movie", "show")] = now - pick(10, 4_000, 200_000) }
        account.outages = chance(0.1) ? Set(some(Engine.sessionStore, .tokenStore, .geo, .callout)) : []
    }
}
