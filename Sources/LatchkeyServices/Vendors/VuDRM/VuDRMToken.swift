import Foundation
import LatchkeyCore
import LatchkeyServer

/// A VuDRM token: client, generation time, version (in the second generation), policy and hash, separated by `|`.
///
/// The real policy is encrypted and stays opaque. The emulator reads a policy that is JSON in base64, as its own tokens have it.
///
/// Source: `Documentation/Vendors/VuDRM.md`, token and policy fields.
struct VuDRMToken: Sendable {
    let generated: Date
    /// Whether day and month are swapped, as in a published sample.
    let hasSwappedDate: Bool
    /// The policy; `nil` if it is not readable.
    let policy: JSONValue?

    init(_ text: String) throws(LicenseRefusal) {
        let parts = text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 4 || parts.count == 5, !parts[0].isEmpty else {
            throw .tokenMalformed("The token has \(parts.count) parts instead of 4 or 5.")
        }
        let (sealed, hash) = (parts[parts.count - 2], parts[parts.count - 1])
        guard let policy = Data(lenientBase64: sealed) else {
            throw .tokenMalformed("The token's policy is not base64.")
        }
        guard Data(hexString: hash)?.count == 20 else { throw .tokenMalformed("The token's hash is not 40 digits.") }
        guard let (date, isSwapped) = Self.date(parts[1]) else {
            throw .tokenMalformed("The token's generation time is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        generated = date
        hasSwappedDate = isSwapped
        // An encrypted policy is no JSON. Parsing it would cost more than the rest of the token.
        self.policy = policy.first == UInt8(ascii: "{") ? JSONValue(policy) : nil
    }

    /// Whether the policy covers the content.
    func covers(_ contentID: String) -> Bool {
        policy?["match_content_id"]?.flag != true || policy?["content_id"]?.text == contentID
    }

    /// The terms that the policy grants; `nil` if it is not readable or states none.
    var terms: LicenseTerms? {
        guard let policy else { return nil }
        let seconds = { (name: String) in policy[name]?.seconds }
        // `type=p` overrides `liccache=no`, and `liccache=yes` overrides any type.
        if policy["liccache"]?.flag == true || policy["type"]?.text == "p" {
            return LicenseTerms(seconds("duration_persist").map { .persistentFor($0) } ?? .persistent)
        }
        let isRental = policy["type"]?.text == "r"
        return seconds(isRental ? "duration_rental" : "duration_lease").map {
            LicenseTerms(isRental ? .rental($0) : .lease($0))
        }
    }

    private static func date(_ text: String) -> (Date, isSwapped: Bool)? {
        if let date = UTCTimestamp.date(text) { return (date, false) }
        let (year, month, day) = (text.prefix(5), text.dropFirst(5).prefix(3), text.dropFirst(8).prefix(2))
        let swapped = "\(year)\(day)-\(month.prefix(2))\(text.dropFirst(10))"
        return UTCTimestamp.date(swapped).map { ($0, true) }
    }
}
