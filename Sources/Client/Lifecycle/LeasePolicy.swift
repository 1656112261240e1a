import LatchkeyCore
import LatchkeyVendors

/// When the keys that a player holds are renewed.
///
/// A lease is renewed when a fraction of it has passed, but no later than its minimum lead before the end, and no sooner after the
/// last license than the vendor takes; `RenewalPolicy` of the vendor's profile states what the vendor wants. A renewal that fails is
/// tried again until the lease ends.
public struct LeasePolicy: Sendable, Hashable {
    /// The share of a lease that passes before it is renewed, 0 to 1; 0.75 unless given.
    public var fraction: Double
    /// The share of a lease by which a renewal may come earlier, by chance; 0.1 unless given. It spreads the keys and the clients
    /// that got their licenses together.
    public var jitter: Double
    /// How long before its end a lease is renewed at least, where that is more than the vendor's profile asks for; none unless
    /// given. At most half of the lease.
    public var minimumLead: Duration
    /// The lease of a key whose license states no terms, where the app knows better; none unless given.
    public var assumedLease: Duration?
    /// The wait after a renewal that failed; 5 s unless given. It doubles with every failure, and is never more than half of what is
    /// left of the lease.
    public var firstWait: Duration
    /// The longest wait after a renewal that failed; 60 s unless given.
    public var longestWait: Duration
    /// How many keys are kept alive at most; 256 unless given. The key that was got first is let go for a new one: a live stream
    /// rotates through keys, and not every player says when it is done with one.
    public var heldKeys: Int

    /// Makes a policy.
    public init(
        fraction: Double = 0.75, jitter: Double = 0.1, minimumLead: Duration = .zero,
        assumedLease: Duration? = nil, firstWait: Duration = .seconds(5), longestWait: Duration = .seconds(60),
        heldKeys: Int = 256
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
    /// What becomes of a key by its license, the vendor's profile and the policy; nil where it is never renewed.
    /// - Parameters:
    ///   - terms: what the license says.
    ///   - vendor: what the vendor's profile says.
    ///   - generator: draws the jitter.
    func plan(
        _ terms: LicenseTerms?, _ vendor: RenewalPolicy, using generator: inout some RandomNumberGenerator
    ) -> RenewalPlan? {
        let early = jitter > 0 ? Double.random(in: 0...min(jitter, 1), using: &generator) : 0
        if let lease = terms == nil ? assumedLease : terms?.lease {
            return RenewalPlan(lease: lease, delay: delay(lease, vendor, early))
        }
        // A rental or a stored key that starts playing goes on playing; only where nothing is known does the interval speak.
        guard terms == nil, let interval = vendor.interval, interval > 0 else { return nil }
        let full = Duration.seconds(interval)
        return RenewalPlan(lease: nil, delay: max(full - full * early, .seconds(vendor.minimumInterval)))
    }

    private func delay(_ lease: Duration, _ vendor: RenewalPolicy, _ early: Double) -> Duration {
        let lead = min(max(minimumLead, .seconds(vendor.minimumLead)), lease / 2)
        let wanted = min(lease * min(max(fraction, 0), 1), lease - lead) - lease * early
        let soonest = Duration.seconds(vendor.minimumInterval)
        // Where the service takes no renewal within the lease, asking in time is no worse than not asking.
        return max(.zero, soonest < lease ? max(wanted, soonest) : wanted)
    }

    /// The wait after a number of failures; nil where the lease ends before another attempt could help.
    func wait(
        afterFailures failures: Int, untilEnd left: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        let doubled = min(longestWait, firstWait * (1 << min(max(failures, 1) - 1, 16)))
        let wait = doubled * Double.random(in: 0.5...1, using: &generator)
        guard let left else { return wait }
        guard left > Self.shortestWait else { return nil }
        return min(wait, max(left / 2, Self.shortestWait))
    }

    /// With less than this left of a lease no further renewal is begun.
    private static let shortestWait = Duration.seconds(1)
}

/// When a key is renewed, counted from its license.
struct RenewalPlan: Sendable, Hashable {
    /// How long the key lives; nil where that is not known.
    let lease: Duration?
    /// When the player is asked to renew it.
    let delay: Duration
}
