import LatchkeyCore

/// A cluster on virtual time: nodes behind an even load balancer, and Redis primaries across which accounts are hashed.
///
/// Source: `Documentation/Server/Sizing.md`.
struct SizingSimulation {
    let plan: SizingPlan
    let nodes: Int
    let primaries: Int
    private let arrivals: SizingArrivals
    private var draws: SizingDraws
    private var front: SizingStation
    private var stores: [SizingStation]
    /// Each primary's share of the accounts.
    let shares: [Double]
    /// License requests retried after a refusal: by attempt, from the second on; renewals before starts; by bin.
    private var again: [[[Crowd]]]
    private(set) var tally = SizingTally()

    /// Some license requests, and their total wait in seconds.
    private struct Crowd {
        var count = 0.0, delay = 0.0
    }

    /// The seconds of work that a node queues before it refuses: `ConcurrencyLimit` answers within this time.
    static let nodeLimit = 0.06
    /// The seconds that a node waits for Redis before it refuses with 503: `stores.sessionMilliseconds`.
    static let storeLimit = 0.05
    /// The number of hash slots for the accounts of a Redis Cluster.
    private static let slots = 16_384

    init(_ plan: SizingPlan, _ arrivals: SizingArrivals, nodes: Int, primaries: Int) {
        (self.plan, self.arrivals, self.nodes, self.primaries) = (plan, arrivals, nodes, primaries)
        let binSeconds = 1 / Double(arrivals.binsPerSecond)
        front = SizingStation(
            cores: Double(nodes * plan.coresPerNode), coresPerQueue: Double(plan.coresPerNode), limit: Self.nodeLimit,
            binSeconds: binSeconds)
        stores = (0..<primaries).map { _ in
            SizingStation(cores: 1, coresPerQueue: 1, limit: Self.storeLimit, binSeconds: binSeconds)
        }
        draws = SizingDraws(seed: plan.seed &+ 0x5154)
        shares = Self.shares(plan, primaries)
        let none = [Crowd](repeating: Crowd(), count: arrivals.starts.count)
        again = [[[Crowd]]](repeating: [none, none], count: plan.retries)
    }

    /// The primaries' shares of the accounts: slots are dealt evenly, accounts by their hashes.
    static func shares(_ plan: SizingPlan, _ primaries: Int) -> [Double] {
        guard primaries > 0 else { return [] }
        let each = (0..<primaries).map { primary in
            Double(slots / primaries + (primary < slots % primaries ? 1 : 0)) / Double(slots)
        }
        var draws = SizingDraws(seed: plan.seed &+ 1)
        return draws.split(Double(plan.viewers), shares: each).map { $0 / Double(max(1, plan.viewers)) }
    }

    /// Runs it to its end.
    mutating func run() {
        let costs = plan.costs
        let license = costs.license / 1e6
        for bin in arrivals.starts.indices {
            // Each kind by attempt.
            let renewals = [Crowd(count: arrivals.renewals[bin])] + again.map { $0[0][bin] }
            let starts = [Crowd(count: arrivals.starts[bin])] + again.map { $0[1][bin] }
            let heartbeats = arrivals.heartbeats[bin]
            let counts = [renewals, starts].map { $0.reduce(0) { $0 + $1.count } }
            let outcome = front.take(
                [(counts[0], license), (heartbeats, costs.heartbeat / 1e6), (counts[1], license)],
                refusal: min(costs.refusal, costs.license, costs.heartbeat) / 1e6)
            let second = bin / arrivals.binsPerSecond
            tally.add(licenses: arrivals.renewals[bin] + arrivals.starts[bin], heartbeats, outcome.wait, second: second)
            tally.refuse(heartbeats * (1 - outcome.taken[1]), second: second)

            // Refused players try again this many seconds later, as `AdmissionQueue` spreads them.
            let refused = counts[0] * (1 - outcome.taken[0]) + counts[1] * (1 - outcome.taken[2])
            let served = counts[0] + counts[1] - refused + heartbeats * outcome.taken[1]
            let spread = min(5, 1 + Int(saturating: (refused / max(1, served)).rounded(.up)))
            var taken: [Crowd] = []
            for (kind, (crowds, part)) in [(renewals, outcome.taken[0]), (starts, outcome.taken[2])].enumerated() {
                for (attempt, crowd) in crowds.enumerated() where crowd.count > 0 {
                    let wait = crowd.delay / crowd.count
                    taken.append(Crowd(count: crowd.count * part, delay: wait + outcome.wait + license))
                    let rest = crowd.count * (1 - part)
                    guard rest > 0 else { continue }
                    tally.refuse(rest, second: second)
                    comeAgain(Crowd(count: rest, delay: rest * wait), kind, attempt, from: bin, within: spread)
                }
            }
            ask(taken, heartbeats * outcome.taken[1])
        }
    }

    private mutating func comeAgain(_ crowd: Crowd, _ kind: Int, _ attempt: Int, from bin: Int, within seconds: Int) {
        guard attempt < again.count else { return tally.giveUp(crowd.count) }
        for second in 1...seconds {
            let later = bin + second * arrivals.binsPerSecond
            // Arrivals after the end are ignored.
            guard later < again[attempt][kind].count else { return }
            again[attempt][kind][later].count += crowd.count / Double(seconds)
            again[attempt][kind][later].delay += (crowd.delay + crowd.count * Double(second)) / Double(seconds)
        }
    }

    /// The work of the primaries.
    /// - Parameter taken: license requests, each crowd with the seconds per request.
    private mutating func ask(_ taken: [Crowd], _ heartbeats: Double) {
        let all = taken.reduce(0) { $0 + $1.count }
        guard primaries > 0 else { return taken.forEach { tally.grant($0.count, after: $0.delay) } }
        let (licenses, beats) = (draws.split(all, shares: shares), draws.split(heartbeats, shares: shares))
        let (license, beat) = (plan.costs.redisLicense / 1e6, plan.costs.redisHeartbeat / 1e6)
        for primary in stores.indices {
            let outcome = stores[primary].take([(licenses[primary], license), (beats[primary], beat)])
            tally.refuseForStore(licenses[primary] * (1 - outcome.taken[0]))
            for crowd in taken where all > 0 {
                tally.grant(licenses[primary] * crowd.count / all, after: crowd.delay + outcome.wait + license)
            }
        }
    }
}

/// Counts a simulation's outcomes.
struct SizingTally: Sendable {
    /// A second of the simulation.
    struct Second: Sendable {
        /// License requests and heartbeats that came for the first time; refused requests; and the longest wait in seconds.
        var licenses = 0.0, heartbeats = 0.0, refused = 0.0, wait = 0.0
    }

    private(set) var seconds: [Second] = []
    private(set) var licenses = 0.0, refused = 0.0, givenUp = 0.0, refusedByStore = 0.0
    private(set) var latencies = LatencyHistogram()

    fileprivate mutating func add(licenses: Double, _ heartbeats: Double, _ wait: Double, second: Int) {
        if seconds.count <= second { seconds.append(Second()) }
        seconds[second].licenses += licenses
        seconds[second].heartbeats += heartbeats
        seconds[second].wait = max(seconds[second].wait, wait)
        self.licenses += licenses
    }

    fileprivate mutating func refuse(_ count: Double, second: Int) {
        seconds[second].refused += count
        refused += count
    }

    fileprivate mutating func giveUp(_ count: Double) { givenUp += count }

    fileprivate mutating func refuseForStore(_ count: Double) { refusedByStore += count }

    fileprivate mutating func grant(_ licenses: Double, after wait: Double) {
        latencies.add(.seconds(wait), times: Int(saturating: licenses.rounded()))
    }
}

extension [Double] {
    /// The largest; 0 if empty.
    var largest: Double { self.max() ?? 0 }
}
