import Foundation
import LatchkeyCore

/// The date by which the windows of stored keys are counted.
///
/// The player's own clock decides whether a key decrypts; this one decides what an app shows and which key it offers. A date that the
/// user sets back does not lengthen a window: the clock never falls behind the latest date that it trusts, which the index keeps, and
/// continues from there as time passes. A date that is ahead counts as long as it is set, and is trusted after `settling`: a user who sets
/// the date forward by mistake and soon takes it back finds all keys as they were. If a wrong date was trusted, the next license puts the
/// clock right, because a service that grants one was asked with credentials and certificates that fit the date.
struct OfflineClock: Sendable {
    /// How long a date that is ahead must last before it is trusted.
    static let settling = Duration.seconds(600)

    /// How far the date may gain on the uptime in one step, in seconds, as two clocks do that are set right by turns.
    private static let drift = 1.0

    /// The latest date that is trusted.
    private(set) var trusted: Date
    private var uptime: Duration
    /// Since when the date has been ahead.
    private var aheadSince: Duration?

    /// - Parameters:
    ///   - trusted: the latest date that an earlier process trusted.
    ///   - uptime: the timekeeper's uptime.
    init(trusted: Date, uptime: Duration) {
        self.trusted = trusted
        self.uptime = uptime
    }

    /// The date, from the timekeeper's two readings.
    mutating func now(_ date: Date, _ uptime: Duration) -> Date {
        trusted += max(.zero, uptime - self.uptime).inSeconds
        self.uptime = uptime
        let ahead = date.timeIntervalSince(trusted)
        if (0...Self.drift).contains(ahead) { trust(date) }
        guard ahead > Self.drift else {
            aheadSince = nil
            return trusted
        }
        let since = aheadSince ?? uptime
        aheadSince = since
        if uptime - since >= Self.settling { trust(date) }
        return date
    }

    /// Trusts a date, whatever was trusted before.
    mutating func trust(_ date: Date) {
        trusted = date
        aheadSince = nil
    }

    /// When a date that is ahead will be trusted, by uptime; `nil` if none is.
    var settles: Duration? { aheadSince.map { $0 + Self.settling } }
}
