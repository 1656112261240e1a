import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay

extension VendorAPI {
    /// How many seconds the clock of a token's maker may be fast.
    private static var clockDifference: Double { 60 }

    /// When a token ends.
    /// - Parameters:
    ///   - made: when it was made.
    ///   - life: how old it may be.
    ///   - date: now.
    /// - Throws: `tokenExpired`, `tokenNotYetValid`.
    static func expiry(of made: Date, _ life: Duration, at date: Date) throws(LicenseRefusal) -> Date {
        let end = made.addingTimeInterval(life.inSeconds)
        guard made.timeIntervalSince(date) <= clockDifference else {
            throw .tokenNotYetValid("The token's time is still to come.")
        }
        guard date < end else { throw .tokenExpired("The token is too old.") }
        return end
    }

    /// What tells a token from others that has no number: its SHA-256. Fails only without memory, and then it counts as used.
    static func digest(of token: String) -> String {
        ((try? MessageDigest.sha256(Array(token.utf8))) ?? []).hexString
    }
}
