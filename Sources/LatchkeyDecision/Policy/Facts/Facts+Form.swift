import Foundation
package import LatchkeyCore
package import LatchkeyFairPlay
package import LatchkeyForms

// The JSON form of facts, for `decide --facts`, for records, and for the examples of policies.
extension Facts {
    static let form: ObjectForm<Facts> = ObjectForm(
        empty: Facts(),
        members: [
            .required("now", \.now, .date), .section("request", \.request, LicenseRequestFacts.form),
            .section("grant", \.grant, Grant.form), .section("key", \.key, KeyFacts.form),
            .section("account", \.account, AccountState.form),
        ])
}

extension LicenseRequestFacts {
    fileprivate static let form: ObjectForm<LicenseRequestFacts> = ObjectForm(
        empty: LicenseRequestFacts(),
        members: [
            .defaulting("tenant", \.tenant, .text, to: ""), .defaulting("drm", \.drm, .word, to: .fairPlay),
            .defaulting("purpose", \.purpose, .word, to: .stream), .optional("playback", \.playback, .playbackState),
            .optional("session", \.session, .playbackSession), .optional("sessionName", \.sessionName, .anyText),
            .defaulting("destination", \.destination, .destination, to: .device),
            .defaulting("capabilities", \.capabilities, .capabilities, to: []),
            .optional("protocolVersion", \.protocolVersion, .whole(0...Int(UInt32.max))),
            .optional("device", \.device, .text), .optional("address", \.address, .address),
            .optional("country", \.country, .country),
            .defaulting("countrySource", \.countrySource, .word, to: .header),
            .optional("anonymized", \.isAnonymized, .flag), .optional("userAgent", \.userAgent, .anyText),
            .defaulting("stop", \.stopCodes, .set(.text), to: []),
        ])
}

extension Grant {
    /// The members of a token's own claim.
    package static let rights: ObjectForm<Grant> = ObjectForm(empty: Grant(), members: rightsMembers)

    fileprivate static let form: ObjectForm<Grant> = ObjectForm(
        empty: Grant(),
        members: [
            .defaulting("account", \.account, .anyText, to: ""), .optional("session", \.session, .anyText),
            .optional("tokenID", \.tokenID, .anyText), .optional("issued", \.issued, .date),
            .optional("expires", \.expires, .date),
        ] + rightsMembers)

    private static let rightsMembers: [Member<Grant>] = [
        .optional("profile", \.profile, .anyText), .optional("address", \.address, .address),
        .optional("device", \.device, .anyText), .optional("label", \.label, .anyText),
        .optional("contents", \.contents, .set(.anyText)), .optional("keys", \.keys, .set(.anyText)),
        .section("policy", \.policy, Policy.rules),
    ]
}

extension KeyFacts {
    fileprivate static let form: ObjectForm<KeyFacts> = ObjectForm(
        empty: KeyFacts(),
        members: [
            .optional("id", \.id, .keyID), .defaulting("content", \.content, .anyText, to: ""),
            .defaulting("track", \.track, .word, to: .all), .optional("origin", \.origin, .word),
            .defaulting("contentPolicies", \.contentPolicies, .list(.name), to: []),
            .defaulting("policies", \.policies, .list(.name), to: []),
        ])
}

extension AccountState {
    fileprivate static let form: ObjectForm<AccountState> = ObjectForm(
        empty: AccountState(),
        members: [
            .defaulting("slots", \.slots, .list(Slot.form.form), to: []),
            .defaulting("stopped", \.stopped, .list(StoppedSession.form.form), to: []),
            .defaulting("devices", \.devices, .members(.anyText, .date), to: [:]),
            .optional("deviceWindow", \.deviceWindow, .duration()),
            .defaulting("downloads", \.downloads, .set(StoredDownload.form.form), to: []),
            .optional("minute", \.minute, Minute.form.form), .optional("tokenUse", \.tokenUse, TokenUse.form.form),
            .defaulting("firstPlays", \.firstPlays, .members(.anyText, .date), to: [:]),
            .defaulting("outages", \.outages, .set(.word), to: []),
            .defaulting("blocks", \.blocks, .list(Block.form.form), to: []),
        ])
}

private let start = Date(timeIntervalSince1970: 0)

extension AccountState.Minute {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(began: start, licenses: 0),
        members: [.required("began", \.began, .date), .required("licenses", \.licenses, .whole(0...1_000_000_000))])
}

extension AccountState.TokenUse {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(session: "", first: start),
        members: [.required("session", \.session, .anyText), .required("first", \.first, .date)])
}

extension StoredDownload {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(content: "", device: ""),
        members: [
            .required("content", \.content, .anyText), .required("device", \.device, .anyText),
            .optional("ends", \.ends, .date),
        ])
}

extension StoppedSession {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(session: "", by: nil, at: start),
        members: [
            .required("session", \.session, .anyText), .optional("by", \.by, .anyText), .required("at", \.at, .date),
        ])
}

extension Slot {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(session: "", content: "", tracks: [], fence: 0, started: start, ends: start),
        members: [
            .required("session", \.session, .anyText), .optional("device", \.device, .anyText),
            .optional("label", \.label, .anyText), .optional("profile", \.profile, .anyText),
            .defaulting("drm", \.drm, .word, to: .fairPlay), .defaulting("content", \.content, .anyText, to: ""),
            .defaulting("tracks", \.tracks, .set(.word), to: []),
            .required("fence", \.fence, .whole(0...(1 << 53))), .required("started", \.started, .date),
            .required("ends", \.ends, .date),
        ])
}

extension JSONForm where Value == KeyID {
    package static let keyID = JSONForm(
        text: "a UUID", schema: .text.with(["format": .text("uuid")]), read: { KeyID($0) }, write: \.description)
}

extension JSONForm where Value == PlaybackSessionID {
    fileprivate static let playbackSession = JSONForm(
        text: "16 hexadecimal digits",
        read: { $0.hexNumber(digits: 16).map { PlaybackSessionID(rawValue: $0) } }, write: \.description)
}

extension JSONForm where Value == PlaybackState {
    private static let names: [(String, PlaybackState)] = [
        ("readyToStart", .readyToStart), ("playing", .playing), ("leaseExpiring", .leaseExpiring),
        ("stopped", .stopped),
    ]

    fileprivate static let playbackState = JSONForm(
        text: "readyToStart, playing, leaseExpiring, stopped, or 8 hexadecimal digits",
        read: { text in
            names.first { $0.0 == text }?.1
                ?? text.hexNumber(digits: 8).map { PlaybackState(rawValue: UInt32(truncatingIfNeeded: $0)) }
        },
        write: { state in names.first { $0.1 == state }?.0 ?? state.rawValue.bigEndianBytes.hexString })
}

extension JSONForm where Value == StreamingDestination {
    private static let all: [StreamingDestination] = [.device, .airPlay, .digitalAVAdapter]

    fileprivate static let destination = JSONForm(
        words: all.map(\.rawValue), read: { text in all.first { $0.rawValue == text } }, write: \.rawValue)
}

extension JSONForm where Value == DeviceCapabilities {
    /// Abilities by name. Flags of unknown meaning, which no rule asks for, are dropped.
    package static let capabilities = JSONForm(
        schema: [JSONForm<Policy.Ability>.word.schema],
        read: { value, place, problems in
            JSONForm<[Policy.Ability]>.list(.word).read(value, place, &problems).map { abilities in
                abilities.reduce(into: DeviceCapabilities()) { $0.insert($1.flag) }
            }
        },
        write: { flags in
            .array(Policy.Ability.allCases.filter { flags.contains($0.flag) }.map { .text($0.rawValue) })
        })
}

extension String {
    fileprivate func hexNumber(digits: Int) -> UInt64? {
        guard utf8.count == digits, let bytes = Data(hexString: self) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
