import LatchkeyCore
package import LatchkeyForms

/// The tracks that a key opens: sound, or pictures up to a size.
///
/// Source: `Documentation/LicenseServer.md` §6.1, tracks.
public enum TrackClass: String, Sendable, Hashable, CaseIterable {
    /// Sound.
    case audio = "AUDIO"
    /// Pictures of up to 589,824 pixels.
    case sd = "SD"
    /// Pictures of up to 2,073,600 pixels.
    case hd = "HD"
    /// Pictures of up to 8,847,360 pixels.
    case uhd1 = "UHD1"
    /// Larger pictures.
    case uhd2 = "UHD2"
    /// One key for everything, or an unknown class.
    case all = "ALL"
}

/// Classes as a policy names them: one, `UHD` for both of that size, or `ALL` for every class and for a key for everything.
package enum TrackGroup: String, Sendable, Hashable, CaseIterable {
    case audio = "AUDIO"
    case sd = "SD"
    case hd = "HD"
    case uhd = "UHD"
    case uhd1 = "UHD1"
    case uhd2 = "UHD2"
    case all = "ALL"

    var classes: Set<TrackClass> {
        switch self {
        case .uhd: [.uhd1, .uhd2]
        case .all: Set(TrackClass.allCases)
        default: Set(TrackClass(rawValue: rawValue).map { [$0] } ?? [])
        }
    }
}

/// Whether something is granted.
package enum Leave: String, Sendable, Hashable, CaseIterable {
    case allow
    case refuse
}

/// What happens while a picture leaves the device: granted, granted with a short lease, or refused.
package enum OutputRule: Sendable, Hashable {
    case allow
    /// Granted with a lease of at most the duration, as `lease:2m`, so that the next decision comes soon.
    case lease(Duration)
    case refuse
}

/// What happens while an engine outside is out of service.
package enum OutageRule: Sendable, Hashable {
    case allow
    /// Granted with a lease of at most the duration, as `allow:2m`: excess grants end soon.
    case allowFor(Duration)
    case refuse
}

/// An engine outside of the decision that can fail.
package enum Engine: String, Sendable, Hashable, CaseIterable {
    /// Slots, devices and downloads.
    case sessionStore
    /// Used tokens.
    case tokenStore
    /// The country of an address.
    case geo
    /// The customer's own system.
    case callout
}

/// The scope in which a limit counts streams.
package enum SlotScope: String, Sendable, Hashable, CaseIterable {
    case account
    case profile
    case title
    case trackClass = "class"
}

/// The treatment of a start beyond the limit. A device always replaces its own older session.
package enum LimitMode: String, Sendable, Hashable, CaseIterable {
    /// Grants it, and notes that it is one too many.
    case count
    /// Stops the oldest sessions.
    case stopOldest
    /// Refuses it.
    case refuseNewest
}

/// The treatment of a key of a class that is not allowed.
package enum TrackRemainder: String, Sendable, Hashable, CaseIterable {
    /// Refuses the request.
    case refuse
    /// Leaves this key out, if the request is for several.
    case leaveOut
}

/// Where a country comes from.
package enum CountrySource: String, Sendable, Hashable, CaseIterable {
    /// A trusted header, such as a CDN's.
    case header
    /// A database of addresses.
    case database
}

extension HDCPRequirement {
    /// The order of strictness. `nil`, the device's choice, is as strict as type 0.
    var strictness: Int {
        switch self {
        case .notRequired: 0
        case .type0: 1
        case .type1: 2
        }
    }

    static func stricter(_ one: Self, _ other: Self) -> Self { one.strictness >= other.strictness ? one : other }
}

extension JSONForm where Value == OutputRule {
    static let outputRule = JSONForm(
        text: "allow, refuse, or lease: and a duration, such as lease:2m",
        schema: .text.with(["examples": .array(["allow", "lease:2m", "refuse"].map { .text($0) })]),
        read: { text in
            switch text {
            case "allow": .allow
            case "refuse": .refuse
            default: text.hasPrefix("lease:") ? DurationText.positive(text.dropFirst(6)).map { .lease($0) } : nil
            }
        },
        write: { rule in
            switch rule {
            case .allow: "allow"
            case .refuse: "refuse"
            case .lease(let lease): "lease:\(DurationText.text(lease))"
            }
        })
}

extension JSONForm where Value == OutageRule {
    static let outageRule = JSONForm(
        text: "allow, refuse, or allow: and a duration, such as allow:2m",
        schema: .text.with(["examples": .array(["allow", "allow:2m", "refuse"].map { .text($0) })]),
        read: { text in
            switch text {
            case "allow": .allow
            case "refuse": .refuse
            default: text.hasPrefix("allow:") ? DurationText.positive(text.dropFirst(6)).map { .allowFor($0) } : nil
            }
        },
        write: { rule in
            switch rule {
            case .allow: "allow"
            case .refuse: "refuse"
            case .allowFor(let lease): "allow:\(DurationText.text(lease))"
            }
        })
}

extension JSONForm where Value == String {
    /// Two capital letters.
    package static let country = JSONForm(
        text: "a country's two capital letters, such as DE", schema: .text.with(["pattern": .text("^[A-Z]{2}$")]),
        read: { $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x41...0x5a).contains($0) } ? $0 : nil }, write: { $0 })
}

extension DurationText {
    fileprivate static func positive(_ text: Substring) -> Duration? {
        duration(String(text)).flatMap { $0 > .zero ? $0 : nil }
    }
}

extension NarrowingRule where Value == OutputRule {
    static let output = Self { (policy: OutputRule?, grant: OutputRule) -> OutputRule? in
        switch (policy ?? .allow, grant) {
        case (.refuse, _), (_, .refuse): .refuse
        case (.lease(let one), .lease(let other)): .lease(min(one, other))
        case (.lease(let lease), .allow), (.allow, .lease(let lease)): .lease(lease)
        case (.allow, .allow): policy
        }
    }
}

extension NarrowingRule where Value == OutageRule {
    /// - Parameter usual: the rule of a policy that states none.
    static func outage(_ usual: OutageRule) -> Self {
        Self { (policy: OutageRule?, grant: OutageRule) -> OutageRule? in
            switch (policy ?? usual, grant) {
            case (.refuse, _): policy
            case (_, .refuse): .refuse
            case (.allowFor(let one), .allowFor(let other)): .allowFor(min(one, other))
            case (.allowFor(let lease), .allow), (.allow, .allowFor(let lease)): .allowFor(lease)
            case (.allow, .allow): policy
            }
        }
    }
}
