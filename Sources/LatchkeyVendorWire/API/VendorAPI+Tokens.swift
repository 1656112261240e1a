import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay

extension VendorAPI {
    /// How many seconds the clock of a token's maker may be fast. The number is our choice.
    private static var clockDifference: Double { 60 }

    /// When a token ends; `nil` without a lifetime.
    /// - Parameters:
    ///   - made: when it was made.
    ///   - member: the token's member that states it.
    ///   - life: the maximum age.
    ///   - rule: the rule that its age breaks, if the vendor's page limits the age.
    /// - Throws: `tokenExpired`, `tokenNotYetValid`.
    static func expiry(
        of made: Date, _ member: String, _ life: Duration?, by rule: VendorRule? = nil, _ call: some VendorRequest
    ) throws(LicenseRefusal) -> Date? {
        guard let life else { return nil }
        let age = call.date.timeIntervalSince(made)
        guard age >= -clockDifference else { throw .tokenNotYetValid("The token's “\(member)” is still to come.") }
        if age > life.inSeconds {
            let (age, life) = (Int(saturating: min(age, 1e9)), Int(saturating: life.inSeconds))
            let expired = LicenseRefusal.tokenExpired("The token is \(age) s old; it was good for \(life) s.")
            guard let rule else { throw expired }
            try call.breach(of: rule, expired.reason)
        }
        return made.addingTimeInterval(life.inSeconds)
    }

    /// Distinguishes a token without a number from others: its SHA-256. Fails only without memory, and then it counts as used.
    static func digest(of token: String) -> String {
        ((try? MessageDigest.sha256(Array(token.utf8))) ?? []).hexString
    }
}
