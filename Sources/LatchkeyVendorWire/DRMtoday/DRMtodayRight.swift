package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms

/// One entry of a token's `crt`: a permitted license and its terms.
///
/// Source: `Documentation/Vendors/DRMtoday.md`, token and rights.
package struct DRMtodayRight: Sendable {
    private let json: JSONValue
    private let place: String

    /// - Parameters:
    ///   - json: the entry.
    ///   - place: its place in the token.
    init(_ json: JSONValue, at place: String) {
        self.json = json
        self.place = place
    }

    /// Whether the app may store the license.
    package var storesLicense: Bool { json["storeLicense"]?.flag == true }

    /// Whether it is for an asset. A right that names none is for every asset.
    package func covers(asset: String?) -> Bool {
        let assetID = json["assetId"]?.text ?? ""
        return assetID.isEmpty || assetID == asset
    }

    /// Whether it is for a variant of its asset. A right that names none is for every variant.
    package func covers(variant: String?) -> Bool {
        let variantID = json["variantId"]?.text ?? ""
        return variantID.isEmpty || variantID == variant ?? ""
    }

    /// Its limits.
    /// - Throws: `tokenMalformed` for rules that are not known.
    func limits() throws(LicenseRefusal) -> Limits {
        // Both stand for rules that the vendor enforces, or does not publish for FairPlay.
        for name in ["op", "ref"] where json[name] != nil {
            throw .unknownRule(place, "states “\(name)”, whose rules are not known here")
        }
        var limits = Limits()
        if let value = json["outputProtection"] {
            let rules = try RuleObject(
                value, at: "\(place).outputProtection", known: ["digital", "analogue", "enforce"])
            let (digital, enforce) = (try rules.flag("digital") ?? false, try rules.flag("enforce") ?? false)
            // FairPlay has no rule for analog outputs, and none that a device may leave out.
            _ = try rules.flag("analogue")
            if digital, enforce { limits.output.hdcp = .type0 }
        }
        guard let profile = json["profile"] else { return limits }
        _ = try RuleObject(profile, at: "\(place).profile", known: ["purchase", "rental"])
        guard let value = profile["rental"] else { return limits }
        let rental = try RuleObject(
            value, at: "\(place).profile.rental", known: ["absoluteExpiration", "playDuration"])
        limits.startsBefore = try rental.value("absoluteExpiration", "a date in ISO 8601") {
            $0.text.flatMap(ISODate.date)
        }
        limits.plays = try rental.value("playDuration", "a number of milliseconds, 1000 or more") { value in
            value.number.flatMap { $0 >= 1_000 ? Duration(clampingSeconds: ($0 / 1_000).rounded(.down)) : nil }
        }
        return limits
    }

    /// A right's limits on playback.
    package struct Limits: Sendable, Hashable {
        package var output = VendorOutput()
        /// Playback starts before it; `nil` without a limit.
        package var startsBefore: Date?
        /// Its duration; `nil` for no limit.
        package var plays: Duration?

        package init() {}

        /// Both, the stricter of each.
        package func joined(with other: Limits) -> Limits {
            var joined = Limits()
            joined.output = output.joined(with: other.output)
            joined.startsBefore = [startsBefore, other.startsBefore].compactMap(\.self).min()
            joined.plays = [plays, other.plays].compactMap(\.self).min()
            return joined
        }

        /// The terms of a license; `nil` without a limit of time.
        /// - Parameters:
        ///   - isStored: whether the app stores the license.
        ///   - date: now.
        /// - Throws: `policy(.ended)`.
        package func terms(isStored: Bool, at date: Date) throws(LicenseRefusal) -> LicenseTerms? {
            let rest = startsBefore.flatMap { Duration(clampingSeconds: $0.timeIntervalSince(date).rounded(.down)) }
            if let rest, rest <= .zero {
                throw LicenseRefusal(.policy(.ended), reason: "The right's “absoluteExpiration” has passed.")
            }
            return switch (rest, plays) {
            case (nil, nil): nil
            case (let rest?, nil): LicenseTerms(isStored ? .persistentFor(rest) : .rental(rest))
            case (nil, let plays?):
                LicenseTerms(isStored ? .dualExpiry(storage: .longest, playback: plays) : .lease(plays))
            case (let rest?, let plays?):
                LicenseTerms(
                    isStored
                        ? .dualExpiry(storage: rest, playback: plays) : .leaseAndRental(lease: plays, rental: rest))
            }
        }
    }
}
