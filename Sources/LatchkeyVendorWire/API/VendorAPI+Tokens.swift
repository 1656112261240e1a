import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay

extension VendorAPI {
    /// How many seconds the clock of a token's maker may be fast. The number is ours.
    private static var clockDifference: Double { 60 }

    /// When a token ends; `nil` without a life.
    /// - Parameters:
    ///   - made: when it was made.
    ///   - member: the token's member that says so.
    ///   - life: how old it may be.
    ///   - date: now.
    /// - Throws: `tokenExpired`, `tokenNotYetValid`.
    static func expiry(
        of made: Date, _ member: String, _ life: Duration?, at date: Date
    ) throws(LicenseRefusal) -> Date? {
        guard let life else { return nil }
        let age = date.timeIntervalSince(made)
        guard age >= -clockDifference else { throw .tokenNotYetValid("The token's “\(member)” is still to come.") }
        guard age <= life.inSeconds else {
            throw .tokenExpired(
                "The token is \(Int(saturating: min(age, 1e9))) s old; it was good for \(Int(saturating: life.inSeconds)) s."
            )
        }
        return made.addingTimeInterval(life.inSeconds)
    }

    /// What tells a token from others that has no number: its SHA-256. Fails only without memory, and then it counts as used.
    static func digest(of token: String) -> String {
        ((try? MessageDigest.sha256(Array(token.utf8))) ?? []).hexString
    }
}
