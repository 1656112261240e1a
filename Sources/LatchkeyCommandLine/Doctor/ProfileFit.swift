import Foundation
import LatchkeyCore
import LatchkeySupport
import LatchkeyVendors

/// The vendor that a key URI seems to be for, if it is not the chosen one.
enum ProfileFit {
    /// A profile that matches a key URI, and why.
    struct Suggestion: Sendable, Equatable {
        let identifier: String
        /// A sentence.
        let reason: String
    }

    /// The profile of another vendor that matches a key URI; `nil` if none does, or if the chosen vendor's does.
    static func suggestion(for key: KeyURI, besides profile: VendorProfile) -> Suggestion? {
        guard !profile.identifier.hasPrefix("generic") else { return nil }
        let matches = VendorIdentification().identify(keyURI: key)
        guard let best = matches.first, best.confidence >= .likely, let identifier = best.profile,
            best.vendor != profile.vendor
        else { return nil }
        return Suggestion(identifier: identifier, reason: best.reasons.first ?? "")
    }
}
