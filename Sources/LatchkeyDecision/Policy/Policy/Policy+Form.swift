import Foundation
import LatchkeyCore
import LatchkeyForms

// The one table of a policy file's members. Source: `Documentation/LicenseServer.md` §6.2.
extension Policy {
    /// The sections. A grant states the same, and narrows by the rule of each member.
    static let rules: ObjectForm<Policy> = ObjectForm(
        empty: Policy(),
        members: [
            .section("validity", \.validity, Validity.form), .section("stream", \.stream, Stream.form),
            .section("download", \.download, Download.form), .section("tracks", \.tracks, Tracks.form),
            .section("output", \.output, Output.form), .section("client", \.client, Client.form),
            .section("devices", \.devices, Devices.form), .section("concurrency", \.concurrency, Concurrency.form),
            .section("place", \.place, Place.form), .section("token", \.token, Token.form),
            .section("blocked", \.blocked, Blocked.form), .section("limits", \.limits, Limits.form),
            .section("outage", \.outage, Outage.form),
            .optional("messages", \.messages, .members(.word, .text)),
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
            .validity(\.type), .optional("renewAt", \.renewAt, .fraction(0.1...0.95)),
            .optional("jitter", \.jitter, .fraction(0...0.5)),
            .optional("begin", \.begin, .date, narrowedBy: .larger),
            .optional("end", \.end, .date, narrowedBy: .smaller),
            .optional("afterFirstPlay", \.afterFirstPlay, .duration(), narrowedBy: .smaller),
        ],
        check: { validity, place, problems in
            guard let begin = validity.begin, let end = validity.end, end <= begin else { return }
            problems.append(
                JSONProblem(place.member("end"), "It is not after the start.", remedy: "Give a later end."))
        })
}

extension Policy.Stream {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(), members: [.optional("allow", \.allow, .flag, narrowedBy: .permission)])
}

extension Policy.Download {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("allow", \.allow, .flag, narrowedBy: .permission),
            .optional("storage", \.storage, .duration(), narrowedBy: .smaller),
            .optional("playback", \.playback, .duration(), narrowedBy: .smaller),
            .optional("renew", \.renew, .flag, narrowedBy: .permission),
            .optional("perTitle", \.perTitle, counts, narrowedBy: .smaller),
            .optional("perAccount", \.perAccount, counts, narrowedBy: .smaller),
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
            .optional("allow", \.allow, .trackClasses, narrowedBy: .common()),
            .optional("otherwise", \.otherwise, .word),
        ])
}

extension Policy.Output {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("hdcp", \.hdcp, .hdcp, narrowedBy: .hdcp),
            .optional("airPlay", \.airPlay, .outputRule, narrowedBy: .output),
            .optional("adapter", \.adapter, .outputRule, narrowedBy: .output),
        ])
}

extension Policy.Client {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("requires", \.requires, .set(.word), narrowedBy: .together()),
            .optional("protocolVersions", \.protocolVersions, .someOf(.whole(1...1_000)), narrowedBy: .common()),
        ])
}

extension Policy.Devices {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("limit", \.limit, counts, narrowedBy: .smaller),
            .optional("window", \.window, .duration(), narrowedBy: NarrowingRule { max($0 ?? Self.usualWindow, $1) }),
            .optional("allow", \.allow, .someOf(.text), narrowedBy: .common()),
        ])

    static let usualWindow = Duration.seconds(30 * 86_400)
}

extension Policy.Concurrency {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("scope", \.scope, .word), .optional("limit", \.limit, .whole(1...100), narrowedBy: .smaller),
            .optional("mode", \.mode, .word, narrowedBy: .ranked(.refuseNewest, \.strictness)),
            .optional("grace", \.grace, .duration(.zero ... .seconds(3_600))),
            .optional("heartbeat", \.heartbeat, .duration(.seconds(5) ... .seconds(3_600))),
            .optional(
                "perClass", \.perClass, .members(.word, .whole(1...100)),
                narrowedBy: .each { min($0, $1) }),
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
            .optional("allow", \.allow, .someOf(.country), narrowedBy: .common()),
            .optional("deny", \.deny, .set(.country), narrowedBy: .together()),
            .optional("whenUnknown", \.whenUnknown, .word, narrowedBy: .leave(.refuse)),
            .optional("trust", \.trust, .word),
            .optional("anonymizers", \.anonymizers, .word, narrowedBy: .leave(.allow)),
            .optional("addresses", \.addresses, .someOf(.addressRange), narrowedBy: .stricter(AddressRange.common)),
            .optional("denyAddresses", \.denyAddresses, .set(.addressRange), narrowedBy: .together()),
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
            .optional("singleUse", \.singleUse, .flag, narrowedBy: .demand),
            .optional(
                "reuse", \.reuse, .duration(.zero ... .seconds(3_600)),
                narrowedBy: NarrowingRule { min($0 ?? Self.usualReuse, $1) }),
            .optional("maxAge", \.maxAge, .duration(), narrowedBy: .smaller),
            .optional("bindIP", \.bindIP, .flag, narrowedBy: .demand),
            .optional("mayWiden", \.mayWiden, .set(paths)),
        ])

    static let usualReuse = Duration.seconds(60)
}

extension Policy.Blocked {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("users", \.users, .set(.text), narrowedBy: .together()),
            .optional("devices", \.devices, .set(.text), narrowedBy: .together()),
            .optional("tokens", \.tokens, .set(.text), narrowedBy: .together()),
            .optional("contents", \.contents, .set(.text), narrowedBy: .together()),
        ])
}

extension Policy.Limits {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [.optional("licensesPerMinute", \.licensesPerMinute, counts, narrowedBy: .smaller)])
}

extension Policy.Outage {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("sessionStore", \.sessionStore, .outageRule, narrowedBy: .outage(Self.usual)),
            .optional("tokenStore", \.tokenStore, .outageRule, narrowedBy: .outage(Self.usual)),
            .optional("geo", \.geo, .outageRule),
            .optional("callout", \.callout, .outageRule, narrowedBy: .outage(.refuse)),
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
            read: { groups.read($0, $1, &$2).map { Set($0.flatMap(\.classes)) } },
            write: { JSONForm<Set<TrackClass>>.set(.word).write($0) })
    }
}

extension JSONForm where Value == [TrackClass: HDCPRequirement] {
    /// By class or group; a class's own member counts before its group's. Written by class.
    fileprivate static var hdcp: Self {
        let groups = JSONForm<[TrackGroup: HDCPRequirement]>.members(.word, .word)
        return JSONForm(
            read: { value, place, problems in
                groups.read(value, place, &problems).map { stated in
                    stated.sorted { $0.key.classes.count > $1.key.classes.count }.reduce(into: [:]) { read, entry in
                        for kind in entry.key.classes { read[kind] = entry.value }
                    }
                }
            }, write: { JSONForm<[TrackClass: HDCPRequirement]>.members(.word, .word).write($0) })
    }
}
