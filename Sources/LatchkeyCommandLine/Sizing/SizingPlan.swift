import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay

/// Whom a cluster is to serve, and what it has for that.
struct SizingPlan: Sendable {
    /// How many play at once.
    var viewers = 1_000_000
    /// How many keys each playback asks for, and renews.
    var keysPerPlayback = 2
    /// How long a license holds, and after which part of that the earliest and the latest player renews; `nil` renews never.
    var lease: Duration? = .seconds(300)
    var renewAt = 0.8
    var jitter = 0.1
    /// How often a player tells that it plays; `nil` for never.
    var heartbeat: Duration?
    /// All playbacks begin within so long; `nil` if they began long ago.
    var kickOff: Duration?
    /// How long a viewer watches before another one begins in its place; `nil` for longer than is looked at.
    var watching: Duration?
    /// Whether the policy counts something, so that licenses ask Redis.
    var asksSessions = true
    /// Keys that nodes have in memory.
    var liveKeys = 5_000
    /// `nil` for as many as are needed.
    var nodes: Int?
    var coresPerNode = 8
    /// Redis primaries; `nil` for as many as are needed.
    var primaries: Int?
    /// How often a refused license request is sent again, before the player gives up. Source: `RetryPolicy`.
    var retries = 2
    /// How full a core may be in its fullest second, 0 to 1.
    var fullness = 0.7
    var costs = SizingCosts()
    /// The other end of what is printed; `nil` once the costs are the operator's own.
    var bestCosts: SizingCosts? = .best
    /// Draws who comes when.
    var seed: UInt64 = 1

    /// Most nodes, and most primaries.
    static let mostStations = 1_000

    /// Takes over when licenses end, when players renew and send heartbeats, and whether sessions are counted.
    mutating func follow(_ policy: Policy) {
        lease = policy.validity.type.flatMap { LicenseTerms($0).lease }
        renewAt = policy.validity.renewAt ?? renewAt
        jitter = policy.validity.jitter ?? jitter
        heartbeat = policy.concurrency.heartbeat
        asksSessions = PolicyEvaluation(Facts(), policy).needsAccount
    }

    /// Seconds after which players renew, as the server says it: whole, each as likely as its weight says; empty without a lease.
    var renewals: [(seconds: Int, weight: Double)] {
        guard let lease else { return [] }
        let latest = lease.inSeconds * renewAt
        let earliest = latest * (1 - jitter)
        guard jitter > 0, latest - earliest >= 1e-9 else { return [(max(1, Int(saturating: latest)), 1)] }
        // The server takes whole seconds of a time that is spread evenly.
        return (Int(saturating: earliest)...Int(saturating: latest)).compactMap { second in
            let part = min(latest, Double(second + 1)) - max(earliest, Double(second))
            return part > 1e-9 ? (max(1, second), part / (latest - earliest)) : nil
        }
    }

    /// How much time is looked at: two leases after all began, or one lease of a steady crowd.
    var seconds: Int {
        let lease = min(max(60, lease?.inSeconds ?? 0, heartbeat?.inSeconds ?? 0), 7_200)
        return Int(saturating: kickOff.map { min($0.inSeconds, 3_600) + 2 * lease } ?? lease)
    }

    /// Parts of a second that are looked at one by one.
    var binsPerSecond: Int { seconds <= 3_600 ? 10 : seconds <= 7_200 ? 5 : 1 }
}
