import Foundation
import LatchkeyCore
import LatchkeyForms

// The one table of a policy file's members. Source: `Documentation/LicenseServer.md` §6.2.
extension Policy {
    /// The sections. A grant states the same, and narrows by the rule of each member.
    static let rules: ObjectForm<Policy> = ObjectForm(
        empty: Policy(),
        members: [
            .section("validity", \.validity, Validity.form).explained("How long licenses last."),
            .section("stream", \.stream, Stream.form).explained("Playback from the network."),
            .section("download", \.download, Download.form).explained("[Storage on the device](Downloads.md)."),
            .section("tracks", \.tracks, Tracks.form).explained("The tracks that a key may open."),
            .section("output", \.output, Output.form).explained(
                "The permitted outputs. `UHD` is `UHD1` and `UHD2`; `ALL` is every class and a key for everything, which otherwise needs the strictest HDCP of all classes."
            ),
            .section("client", \.client, Client.form).explained("The capabilities that a device must have."),
            .section("devices", \.devices, Devices.form).explained("The devices of an account."),
            .section("concurrency", \.concurrency, Concurrency.form).explained(
                "[Concurrent streams](Policies.md#streams). If they are counted, a device that starts always replaces its own older session."
            ),
            .section("place", \.place, Place.form).explained("[Where viewers are](Policies.md#places)."),
            .section("token", \.token, Token.form).explained("The requirements on tokens."),
            .section("blocked", \.blocked, Blocked.form).explained("Names that never get a license."),
            .section("limits", \.limits, Limits.form).explained("The rate of requests."),
            .section("outage", \.outage, Outage.form).explained(
                "The rule while an engine is [out of service](Policies.md#when-a-store-does-not-answer). `allow:2m` grants with a lease of at most that duration."
            ),
            .optional("messages", \.messages, .members(.word, .text)).explained(
                "The messages to viewers, as keys of the app's texts, by the section that refuses, such as `concurrency`."
            ),
        ])
}

private let counts = JSONForm.whole(1...1_000_000)
/// The members that a policy may let a grant widen.
private let paths = JSONForm<String>(
    text: "a member of a policy by its path, such as download.allow",
    read: { Policy.rules.paths.contains($0) && $0 != "token.mayWiden" ? $0 : nil }, write: { $0 })

extension Policy.Validity {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .validity(\.type).explained(
                "One of `unlimited`, `lease`, `rental`, `leaseAndRental`, `persistent`, `persistentFor`, `dualExpiry`, with the durations that belong to it: `lease`, `rental`; `storage` for `persistentFor`; `storage` and `playback` for `dualExpiry`. Defaults to `unlimited`."
            ),
            .optional("renewAt", \.renewAt, .fraction(0.1...0.95))
                .explained("When to renew, as a fraction of the lease. Defaults to 0.8."),
            .optional("jitter", \.jitter, .fraction(0...0.5))
                .explained("The fraction of that time over which renewals are spread. Defaults to 0.1."),
            .optional("begin", \.begin, .date, narrowedBy: .larger).explained("The earliest time of a license."),
            .optional("end", \.end, .date, narrowedBy: .smaller)
                .explained("No license from this time on, and none that lasts beyond it."),
            .optional("afterFirstPlay", \.afterFirstPlay, .duration(), narrowedBy: .smaller)
                .explained("How long licenses are granted after the account's first play of the content."),
        ],
        check: { validity, place, problems in
            guard let begin = validity.begin, let end = validity.end, end <= begin else { return }
            problems.append(
                JSONProblem(place.member("end"), "It is not after the start.", remedy: "Give a later end."))
        })
}

extension Policy.Stream {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("allow", \.allow, .flag, narrowedBy: .permission)
                .explained("Whether streams get licenses. Defaults to true.")
        ])
}

extension Policy.Download {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("allow", \.allow, .flag, narrowedBy: .permission).explained(
                "Whether keys may be stored. Defaults to whether `validity.type` is `persistent`, `persistentFor` or `dualExpiry`."
            ),
            .optional("storage", \.storage, .duration(), narrowedBy: .smaller)
                .explained("How long the device may store the key. Defaults to the validity's, or no limit."),
            .optional("playback", \.playback, .duration(), narrowedBy: .smaller)
                .explained("How long it plays once playback has begun. Defaults to the validity's, or no limit."),
            .optional("renew", \.renew, .flag, narrowedBy: .permission)
                .explained("Whether a stored key may be renewed. Defaults to true."),
            .optional("perTitle", \.perTitle, counts, narrowedBy: .smaller).explained(
                "The maximum number of an account's devices with one title; a token's `latchkey.device` or `sub` identifies devices and accounts. Defaults to no limit."
            ),
            .optional("perAccount", \.perAccount, counts, narrowedBy: .smaller)
                .explained("The maximum number of titles of an account, each device counted. Defaults to no limit."),
        ],
        check: { download, place, problems in
            guard download.allow == false else { return }
            let idle: [(String, Bool)] = [
                ("storage", download.storage != nil), ("playback", download.playback != nil),
                ("perTitle", download.perTitle != nil), ("perAccount", download.perAccount != nil),
            ]
            for (name, isStated) in idle where isStated {
                problems.append(
                    JSONProblem(
                        place.member(name), "Downloads are disabled because allow is false.",
                        remedy: "Remove it, or allow downloads."))
            }
        })
}

extension Policy.Tracks {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("allow", \.allow, .trackClasses, narrowedBy: .common()).explained(
                "The licensed classes. Defaults to all. Once set, a key for everything needs `ALL`."
            ),
            .optional("otherwise", \.otherwise, .word).explained(
                "A key of another class: `refuse` refuses the request; `leaveOut` leaves the key out, if the request is for several. Defaults to `refuse`."
            ),
        ])
}

extension Policy.Output {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("hdcp", \.hdcp, .hdcp, narrowedBy: .hdcp).explained(
                "The required HDCP of a display, by class. `type1` is refused to a device that does not state that it enforces it. Defaults to the device's choice."
            ),
            .optional("airPlay", \.airPlay, .outputRule, narrowedBy: .output)
                .explained("AirPlay, by the SPC's streaming indicator. Defaults to `allow`."),
            .optional("adapter", \.adapter, .outputRule, narrowedBy: .output)
                .explained("A digital adapter, likewise. Defaults to `allow`."),
        ])
}

extension Policy.Client {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("requires", \.requires, .set(.word), narrowedBy: .together())
                .explained("Capabilities that the device must state."),
            .optional("protocolVersions", \.protocolVersions, .someOf(.whole(1...1_000)), narrowedBy: .common())
                .explained("The accepted versions of the FairPlay protocol. Defaults to all."),
        ])
}

extension Policy.Devices {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("limit", \.limit, counts, narrowedBy: .smaller)
                .explained("The maximum number of an account's devices. Defaults to no limit."),
            .optional("window", \.window, .duration(), narrowedBy: NarrowingRule { max($0 ?? Self.usualWindow, $1) })
                .explained("How long a device counts after its last license. Defaults to 30 days."),
            .optional("allow", \.allow, .someOf(.text), narrowedBy: .common()).explained(
                "The only devices that get licenses, by their digests or the token's names. Defaults to all."),
        ])

    static let usualWindow = Duration.seconds(30 * 86_400)
}

extension Policy.Concurrency {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("scope", \.scope, .word)
                .explained("Where streams are counted together. Defaults to `account`."),
            .optional("limit", \.limit, .whole(1...100), narrowedBy: .smaller)
                .explained("The maximum number of streams. Defaults to no limit."),
            .optional("mode", \.mode, .word, narrowedBy: .ranked(.refuseNewest, \.strictness)).explained(
                "A start beyond the limit: [refused, in place of the oldest session, or only counted](Policies.md#streams). Defaults to `refuseNewest`."
            ),
            .optional("grace", \.grace, .duration(.zero ... .seconds(3_600)))
                .explained("How long a slot outlives its lease or heartbeat. Defaults to 20 s."),
            .optional("heartbeat", \.heartbeat, .duration(.seconds(5) ... .seconds(3_600))).explained(
                "The interval of a player's heartbeats; a slot lasts for two of them. Without it slots last as long as leases."
            ),
            .optional(
                "perClass", \.perClass, .members(.word, .whole(1...100)),
                narrowedBy: .each { min($0, $1) }
            ).explained("The maximum number of streams of a class, such as `UHD`."),
        ],
        check: { concurrency, place, problems in
            guard let limit = concurrency.limit else { return }
            for (group, count) in concurrency.perClass ?? [:] where count > limit {
                problems.append(
                    JSONProblem(
                        place.member("perClass").member(group.rawValue),
                        "It is more than the limit of \(limit) in all.",
                        remedy: "Lower it, or raise the limit."))
            }
        })
}

extension LimitMode {
    fileprivate var strictness: Int {
        switch self {
        case .count: 0
        case .stopOldest: 1
        case .refuseNewest: 2
        }
    }
}

extension Policy.Place {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("allow", \.allow, .someOf(.country), narrowedBy: .common())
                .explained("The only countries. Defaults to all."),
            .optional("deny", \.deny, .set(.country), narrowedBy: .together()).explained("Refused countries."),
            .optional("whenUnknown", \.whenUnknown, .word, narrowedBy: .leave(.refuse)).explained(
                "A viewer whose country is unknown, if the policy names countries. Defaults to `refuse`."),
            .optional("trust", \.trust, .word).explained("The only trusted source of a country. Defaults to all."),
            .optional("anonymizers", \.anonymizers, .word, narrowedBy: .leave(.allow))
                .explained("VPN and Tor addresses. Defaults to `allow`."),
            .optional("addresses", \.addresses, .someOf(.addressRange), narrowedBy: .stricter(AddressRange.common))
                .explained("The only addresses. Defaults to all."),
            .optional("denyAddresses", \.denyAddresses, .set(.addressRange), narrowedBy: .together())
                .explained("Refused addresses."),
        ],
        check: { rules, at, problems in
            guard let allow = rules.allow, let deny = rules.deny, allow.isSubset(of: deny) else { return }
            problems.append(
                JSONProblem(
                    at.member("deny"), "Every allowed country is also denied.", remedy: "Remove one of the two."))
        })
}

extension NarrowingRule where Value == Leave {
    fileprivate static func leave(_ usual: Leave) -> Self { .ranked(usual) { $0 == .refuse ? 1 : 0 } }
}

extension Policy.Token {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("singleUse", \.singleUse, .flag, narrowedBy: .demand)
                .explained("Whether a token is for one session only. Defaults to false."),
            .optional(
                "reuse", \.reuse, .duration(.zero ... .seconds(3_600)),
                narrowedBy: NarrowingRule { min($0 ?? Self.usualReuse, $1) }
            ).explained(
                "How long after its first use that session may use it again; `0s` limits it to one license. Defaults to 60 s."
            ),
            .optional("maxAge", \.maxAge, .duration(), narrowedBy: .smaller)
                .explained("The maximum age of a token. Defaults to its own end."),
            .optional("bindIP", \.bindIP, .flag, narrowedBy: .demand).explained(
                "Whether a token must name the viewer's address. Defaults to false. An address that it names always counts."
            ),
            .optional("mayWiden", \.mayWiden, .set(paths)).explained(
                "The members of a policy that a grant may widen, such as `download.allow`. A grant cannot set it."),
        ])

    static let usualReuse = Duration.seconds(60)
}

extension Policy.Blocked {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("users", \.users, .set(.text), narrowedBy: .together()).explained("Accounts."),
            .optional("devices", \.devices, .set(.text), narrowedBy: .together()).explained("Devices."),
            .optional("tokens", \.tokens, .set(.text), narrowedBy: .together()).explained("Tokens, by their `jti`."),
            .optional("contents", \.contents, .set(.text), narrowedBy: .together()).explained("Contents."),
        ])
}

extension Policy.Limits {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("licensesPerMinute", \.licensesPerMinute, counts, narrowedBy: .smaller)
                .explained("The maximum of an account. Defaults to no limit.")
        ])
}

extension Policy.Outage {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("sessionStore", \.sessionStore, .outageRule, narrowedBy: .outage(Self.usual)).explained(
                "The session store, without which slots, devices and downloads cannot be counted. Defaults to `allow:2m`, for policies that count something: no viewer is rejected, and excess grants end within two minutes."
            ),
            .optional("tokenStore", \.tokenStore, .outageRule, narrowedBy: .outage(Self.usual))
                .explained(
                    "The store of used tokens. Defaults to `allow:2m`, for policies with `singleUse`: each node refuses only tokens that it accepted itself, so a token can be used once per node."
                ),
            .optional("geo", \.geo, .outageRule)
                .explained("The source of countries. Defaults to `place.whenUnknown`."),
            .optional("callout", \.callout, .outageRule, narrowedBy: .outage(.refuse))
                .explained("The operator's own service. Defaults to `refuse`."),
        ])
}

extension NarrowingRule where Value == [TrackClass: HDCPRequirement] {
    /// The stricter of each class. Where a policy states none the device enforces type 0, which a grant cannot take back.
    fileprivate static let hdcp = Self { policy, grant in
        let stated = policy ?? [:]
        let narrower = grant.filter { stated[$0.key] != nil || $0.value != .notRequired }
        return narrower.isEmpty ? policy : stated.merging(narrower, uniquingKeysWith: HDCPRequirement.stricter)
    }
}

extension JSONForm where Value == Set<TrackClass> {
    /// Classes and groups of them; written as classes.
    fileprivate static var trackClasses: Self {
        let groups = JSONForm<Set<TrackGroup>>.someOf(.word)
        return JSONForm(
            schema: groups.schema, expected: groups.expected,
            read: { groups.read($0, $1, &$2).map { Set($0.flatMap(\.classes)) } },
            write: { JSONForm<Set<TrackClass>>.set(.word).write($0) })
    }
}

extension JSONForm where Value == [TrackClass: HDCPRequirement] {
    /// By class or group; a class's own member counts before its group's. Written by class.
    fileprivate static var hdcp: Self {
        let groups = JSONForm<[TrackGroup: HDCPRequirement]>.members(.word, .word)
        return JSONForm(
            schema: groups.schema, expected: groups.expected,
            read: { value, place, problems in
                groups.read(value, place, &problems).map { stated in
                    stated.sorted { $0.key.classes.count > $1.key.classes.count }.reduce(into: [:]) { read, entry in
                        for kind in entry.key.classes { read[kind] = entry.value }
                    }
                }
            }, write: { JSONForm<[TrackClass: HDCPRequirement]>.members(.word, .word).write($0) })
    }
}
