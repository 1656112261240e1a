/// A vendor that matches the observations, and why.
package struct VendorMatch: Sendable, Hashable, Codable {
    /// The matching profile; `nil` for a vendor without a profile, because its requests are not public.
    package let profile: String?
    /// The vendor's own name, without the variant.
    package let vendor: String
    /// The observations for the profile and, with a negative weight, against it; strongest first. Not empty.
    package let evidence: [Evidence]

    /// One observation.
    package struct Evidence: Sendable, Hashable, Codable {
        /// The weight, from -100 to 100.
        package let weight: Int
        /// The observation, in one sentence without secrets.
        package let sentence: String
    }

    /// The confidence in a match.
    package enum Confidence: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
        /// The form matches, but matches other vendors too.
        case possible
        /// Several forms match, or one that few vendors use.
        case likely
        /// A name that only this vendor uses was seen.
        case certain

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
}

extension VendorMatch {
    /// The sum of all weights, limited to 0 to 100.
    package var score: Int { min(100, max(0, total)) }

    fileprivate var total: Int { evidence.reduce(0) { $0 + $1.weight } }

    /// Certain from a score of 50, likely from 25.
    package var confidence: Confidence {
        switch score {
        case 50...: .certain
        case 25...: .likely
        default: .possible
        }
    }

    /// The sentences for the profile, strongest first.
    package var reasons: [String] { evidence.filter { $0.weight > 0 }.map(\.sentence) }
}

extension VendorMatch {
    init(profile: String?, vendor: String, unsorted evidence: [Evidence]) {
        self.profile = profile
        self.vendor = vendor
        self.evidence = evidence.enumerated()
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element)
    }
}

extension [VendorMatch] {
    /// The best match first. Among equal matches, the earlier profile first.
    var ranked: [VendorMatch] {
        enumerated().filter { $0.element.total > 0 }
            .sorted { ($1.element.total, $0.offset) < ($0.element.total, $1.offset) }.map(\.element)
    }
}
