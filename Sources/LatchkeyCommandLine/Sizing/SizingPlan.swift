import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay

/// A cluster's viewers and its resources.
struct SizingPlan: Sendable {
    /// The number of concurrent viewers.
    var viewers = 1_000_000
    /// The number of keys that each playback requests and renews.
    var keysPerPlayback = 2
    /// The life of a license, and the shares of it after which the earliest and the latest player renew; `nil` for no renewals.
    var lease: Duration? = .seconds(300)
    var renewAt = 0.8
    var jitter = 0.1
    /// The interval of a player's heartbeats; `nil` for none.
    var heartbeat: Duration?
    /// The time within which all playbacks begin; `nil` if they began long ago.
    var kickOff: Duration?
    /// How long a viewer watches before another one begins in its place; `nil` for longer than is simulated.
    var watching: Duration?
    /// Whether the policy counts anything, so that licenses query Redis.
    var asksSessions = true
    /// Keys that nodes hold in memory.
    var liveKeys = 5_000
    /// `nil` for as many as are needed.
    var nodes: Int?
    var coresPerNode = 8
    /// Redis primaries; `nil` for as many as are needed.
    var primaries: Int?
    /// How often a refused license request is retried before the player gives up. Source: `RetryPolicy`.
    var retries = 2
    /// The maximum load of a core in its fullest second, 0 to 1.
    var fullness = 0.7
    var costs = SizingCosts()
    /// The low end of the printed ranges; `nil` if the costs are the operator's own.
    var bestCosts: SizingCosts? = .best
    /// The seed of the arrivals.
    var seed: UInt64 = 1

    /// The maximum numbers of nodes and primaries.
    static let mostStations = 1_000

    /// Takes the life of licenses, the times of renewals and heartbeats, and whether sessions are counted from a policy.
    mutating func follow(_ policy: Policy) {
        lease = policy.validity.type.flatMap { LicenseTerms($0).lease }
        renewAt = policy.validity.renewAt ?? renewAt
        jitter = policy.validity.jitter ?? jitter
        heartbeat = policy.concurrency.heartbeat
        asksSessions = PolicyEvaluation(Facts(), policy).needsAccount
    }

    /// The times in seconds after which players renew, as the server states them: whole, each with its weight; empty without a lease.
    var renewals: [(seconds: Int, weight: Double)] {
        guard let lease else { return [] }
        let latest = lease.inSeconds * renewAt
        let earliest = latest * (1 - jitter)
        guard jitter > 0, latest - earliest >= 1e-9 else { return [(max(1, Int(saturating: latest)), 1)] }
        // The server truncates an evenly spread time to whole seconds.
        return (Int(saturating: earliest)...Int(saturating: latest)).compactMap { second in
            let part = min(latest, Double(second + 1)) - max(earliest, Double(second))
            return part > 1e-9 ? (max(1, second), part / (latest - earliest)) : nil
        }
    }

    /// The simulated time: two leases after all began, or one lease of a steady crowd.
    var seconds: Int {
        let lease = min(max(60, lease?.inSeconds ?? 0, heartbeat?.inSeconds ?? 0), 7_200)
        return Int(saturating: kickOff.map { min($0.inSeconds, 3_600) + 2 * lease } ?? lease)
    }

    /// Parts of a second that are simulated separately.
    var binsPerSecond: Int { seconds <= 3_600 ? 10 : seconds <= 7_200 ? 5 : 1 }
}
