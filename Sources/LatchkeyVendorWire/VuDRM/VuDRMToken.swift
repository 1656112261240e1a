package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyForms

/// A VuDRM token: client, generation time, version (in the second generation), policy and hash, separated by `|`.
///
/// The vendor's policy is encrypted and stays opaque; the encryption and the hash are not public. Tokens made here have JSON in base64, and
/// an HMAC.
///
/// Source: `Documentation/Vendors/VuDRM.md`, token and policy fields.
package struct VuDRMToken: Sendable {
    /// The customer.
    package let client: String
    /// When it was made.
    package let generated: Date
    /// Whether day and month are swapped, as in a published sample.
    package let hasSwappedDate: Bool
    /// The policy; `nil` if it is not readable.
    package let policy: JSONValue?
    /// The signed text: everything before the hash.
    private let signed: [UInt8]
    private let hash: Data

    package init(_ text: String) throws(LicenseRefusal) {
        let parts = text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 4 || parts.count == 5, !parts[0].isEmpty else {
            throw .tokenMalformed("The token has \(parts.count) parts instead of 4 or 5.")
        }
        let (sealed, hash) = (parts[parts.count - 2], parts[parts.count - 1])
        guard let policy = Data(lenientBase64: sealed) else {
            throw .tokenMalformed("The token's policy is not base64.")
        }
        guard let digest = Data(hexString: hash), digest.count == 20 else {
            throw .tokenMalformed("The token's hash is not 40 digits.")
        }
        guard let (date, isSwapped) = Self.date(parts[1]) else {
            throw .tokenMalformed("The token's generation time is not in the form yyyy-MM-ddThh:mm:ssZ.")
        }
        client = parts[0]
        signed = Array(text.utf8.dropLast(hash.utf8.count + 1))
        self.hash = digest
        generated = date
        hasSwappedDate = isSwapped
        // An encrypted policy is not JSON. Parsing it would cost more than the rest of the token.
        self.policy = policy.first == UInt8(ascii: "{") ? JSONValue(policy) : nil
    }

    /// Whether our token service made the token with a secret. Compares in constant time.
    package func isSigned(with secret: Secret) -> Bool {
        Self.hash(of: signed, secret).map { Secret($0) == Secret(hash) } ?? false
    }

    /// The hash of tokens made here: the first 20 bytes of the HMAC-SHA-256 of client, time and policy with their separators.
    package static func hash(of text: [UInt8], _ secret: Secret) -> Data? {
        secret.withUnsafeBytes { secret in
            (try? MessageDigest.hmacSHA256(key: secret, text)).map { Data($0.prefix(20)) }
        }
    }

    /// Whether the policy covers the content.
    package func covers(_ contentID: String) -> Bool {
        policy?["match_content_id"]?.flag != true || policy?["content_id"]?.text == contentID
    }

    /// The terms that the policy grants; `nil` if it is not readable or states none.
    package var terms: LicenseTerms? {
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
