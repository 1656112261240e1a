import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// When a player's keys are renewed.
///
/// A lease is renewed after a fraction of it has passed, but no later than its minimum lead before the end, and no sooner after the last
/// license than the vendor accepts, as stated by `RenewalPolicy` of the vendor's profile. A failed renewal is repeated until the lease
/// ends.
public struct LeasePolicy: Sendable, Hashable {
    /// The share of a lease that passes before it is renewed, 0 to 1. Defaults to 0.75.
    public var fraction: Double
    /// The share of a lease by which a renewal may randomly come earlier. Defaults to 0.1. It spreads keys and clients that got their
    /// licenses at the same time.
    public var jitter: Double
    /// The minimum time before its end at which a lease is renewed, if more than the vendor's profile requires. Defaults to zero. At most
    /// half of the lease.
    public var minimumLead: Duration
    /// The lease of a key whose license states no terms, if the app knows it. Defaults to `nil`.
    public var assumedLease: Duration?
    /// The wait after a renewal that failed. Defaults to 5 s. It doubles with every failure, and is never more than half of the remaining
    /// lease.
    public var firstWait: Duration
    /// The longest wait after a renewal that failed. Defaults to 60 s.
    public var longestWait: Duration
    /// How many of a player's newest keys are kept alive if its playlists are unknown. Defaults to 8. A live stream rotates through keys,
    /// and no player reports when it is done with one: a key lapses, instead of being renewed, after this many newer ones have come.
    public var heldKeys: Int

    /// Makes a policy. Each parameter is the property of its name.
    public init(
        fraction: Double = 0.75, jitter: Double = 0.1, minimumLead: Duration = .zero,
        assumedLease: Duration? = nil, firstWait: Duration = .seconds(5), longestWait: Duration = .seconds(60),
        heldKeys: Int = 8
    ) {
        self.fraction = fraction
        self.jitter = jitter
        self.minimumLead = minimumLead
        self.assumedLease = assumedLease
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.heldKeys = heldKeys
    }
}

extension LeasePolicy {
    /// When a key is renewed, by its license, the vendor's profile and the policy; `nil` if never.
    /// - Parameters:
    ///   - terms: the license's terms.
    ///   - vendor: the renewal policy of the vendor's profile.
    ///   - generator: draws the jitter.
    func plan(
        _ terms: LicenseTerms?, _ vendor: RenewalPolicy, using generator: inout some RandomNumberGenerator
    ) -> RenewalPlan? {
        let early = jitter > 0 ? Double.random(in: 0...min(jitter, 1), using: &generator) : 0
        // Clamped: an app's own integration may read any number out of a license.
        if let lease = (terms == nil ? assumedLease : terms?.lease)?.clamped {
            return RenewalPlan(lease: lease, delay: delay(lease, vendor, early))
        }
        // A rental or a stored key that has started keeps playing. The vendor's interval counts only if nothing is known.
        guard terms == nil, let interval = vendor.interval, interval > 0 else { return nil }
        let full = Duration(clampingSeconds: interval)
        return RenewalPlan(
            lease: nil, delay: max(full - full * early, Duration(clampingSeconds: vendor.minimumInterval)))
    }

    private func delay(_ lease: Duration, _ vendor: RenewalPolicy, _ early: Double) -> Duration {
        let lead = min(max(minimumLead, Duration(clampingSeconds: vendor.minimumLead)), lease / 2)
        let share = fraction > 0 ? min(fraction, 1) : 0
        let wanted = min(lease * share, lease - lead) - lease * early
        let soonest = Duration(clampingSeconds: vendor.minimumInterval)
        // If the service accepts no renewal within the lease, asking in time is no worse than not asking.
        return max(.zero, soonest < lease ? max(wanted, soonest) : wanted)
    }

    /// The wait after a number of failures; `nil` if the lease ends before another attempt could help.
    func wait(
        afterFailures failures: Int, untilEnd left: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let doubled = min(longestWait, firstWait.clamped * (1 << min(max(failures, 1) - 1, 16)))
        let wait = doubled * Double.random(in: 0.5...1, using: &generator)
        guard let left else { return wait }
        guard left > Self.shortestWait else { return nil }
        return min(wait, max(left / 2, Self.shortestWait))
    }

    /// No renewal is started with less than this left of a lease.
    private static let shortestWait = Duration.seconds(1)
}

/// When a key is renewed, counted from its license.
struct RenewalPlan: Sendable, Hashable {
    /// How long the key lives; `nil` if that is not known.
    let lease: Duration?
    /// When the player is asked to renew it.
    let delay: Duration
}
