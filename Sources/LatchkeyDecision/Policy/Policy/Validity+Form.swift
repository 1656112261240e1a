import LatchkeyCore
import LatchkeyForms

/// The kinds of validity by their names in a policy.
private enum ValidityType: String, Sendable, CaseIterable {
    case unlimited, lease, rental, leaseAndRental, persistent, persistentFor, dualExpiry

    var durations: [String] {
        switch self {
        case .unlimited, .persistent: []
        case .lease: ["lease"]
        case .rental: ["rental"]
        case .leaseAndRental: ["lease", "rental"]
        case .persistentFor: ["storage"]
        case .dualExpiry: ["storage", "playback"]
        }
    }
}

extension Member {
    /// A validity: `type`, and the durations that belong to it.
    static func validity(_ place: Member<LicenseTerms.Validity?>) -> Self {
        var member = composite(
            ["type"] + Self.durations, "type", place, .validity, read: Self.read,
            write: Self.written)
        for name in Self.durations { member.schemas[name] = JSONForm<Duration>.duration().schema }
        member.schemas["type"] = JSONForm<ValidityType>.word.schema
        return member
    }

    private static var durations: [String] { ["lease", "rental", "storage", "playback"] }

    private static func read(
        _ values: [String: JSONValue], _ place: JSONPlace, _ problems: inout [JSONProblem]
    ) -> LicenseTerms.Validity? {
        let stated = durations.filter { values[$0] != nil }
        guard let type = values["type"] else {
            guard let first = stated.first else { return nil }
            problems.append(
                JSONProblem(
                    place.member("type"), "There is a \(first) but no type.",
                    remedy: "State the type: \(ValidityType.allCases.map(\.rawValue).joined(separator: ", "))."))
            return nil
        }
        guard let type = JSONForm<ValidityType>.word.read(type, place.member("type"), &problems) else { return nil }
        for name in stated where !type.durations.contains(name) {
            problems.append(
                JSONProblem(
                    place.member(name), "A validity of type \(type.rawValue) has no \(name).",
                    remedy: "Remove it, or choose the type that has it."))
        }
        var durations: [String: Duration] = [:]
        for name in type.durations {
            guard let value = values[name] else {
                problems.append(
                    JSONProblem(place.member(name), "The type \(type.rawValue) needs it.", remedy: "Add it."))
                continue
            }
            durations[name] = JSONForm.duration().read(value, place.member(name), &problems)
        }
        return type.validity(durations)
    }

    private static func written(_ validity: LicenseTerms.Validity) -> [String: JSONValue] {
        let (type, durations): (ValidityType, [Duration]) =
            switch validity {
            case .unlimited: (.unlimited, [])
            case .lease(let lease): (.lease, [lease])
            case .rental(let rental): (.rental, [rental])
            case .leaseAndRental(let lease, let rental): (.leaseAndRental, [lease, rental])
            case .persistent: (.persistent, [])
            case .persistentFor(let storage): (.persistentFor, [storage])
            case .dualExpiry(let storage, let playback): (.dualExpiry, [storage, playback])
            }
        let members = zip(type.durations, durations).map { ($0, JSONValue.text(DurationText.text($1))) }
        return Dictionary(members) { first, _ in first }.merging(["type": .text(type.rawValue)]) { first, _ in first }
    }
}

extension NarrowingRule where Value == LicenseTerms.Validity {
    /// A policy without a validity is unlimited, and stores nothing.
    fileprivate static let validity = Self { policy, grant in
        let narrowed = (policy ?? .unlimited).narrowed(to: grant)
        return policy == nil && narrowed == .unlimited ? nil : narrowed
    }
}

extension ValidityType {
    /// `nil` if a duration is missing.
    func validity(_ durations: [String: Duration]) -> LicenseTerms.Validity? {
        switch (self, durations["lease"], durations["rental"], durations["storage"], durations["playback"]) {
        case (.unlimited, _, _, _, _): .unlimited
        case (.persistent, _, _, _, _): .persistent
        case (.lease, let lease?, _, _, _): .lease(lease)
        case (.rental, _, let rental?, _, _): .rental(rental)
        case (.leaseAndRental, let lease?, let rental?, _, _): .leaseAndRental(lease: lease, rental: rental)
        case (.persistentFor, _, _, let storage?, _): .persistentFor(storage)
        case (.dualExpiry, _, _, let storage?, let playback?): .dualExpiry(storage: storage, playback: playback)
        default: nil
        }
    }
}

/// A validity as one object, for terms in facts and records.
struct StatedValidity: Sendable, Hashable {
    var validity: LicenseTerms.Validity?
    var hdcp: HDCPRequirement?

    static let form = ObjectForm<StatedValidity>(
        empty: StatedValidity(), members: [.validity(\.validity), .optional("hdcp", \.hdcp, .word)])
}
