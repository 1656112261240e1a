import LatchkeyCore

/// A plan's needs, and the result with its own resources.
struct SizingResult: Sendable, Encodable {
    /// Nodes or primaries.
    struct Part: Sendable, Encodable {
        /// The cores or primaries that the fullest second fills up to the plan's maximum load; and whole nodes or primaries for that.
        let exactlyNeeded: Double
        /// The same at the best costs; `nil` where the plan's costs were measured.
        let exactlyNeededAtBest: Double?
        let needed: Int
        /// The number examined: the plan's, or the number needed.
        let count: Int
        /// The load of the fullest one in its fullest second, if nothing were refused; 1 is all of its time.
        let fullest: Double
    }

    struct Second: Sendable, Encodable {
        let second: Int
        let licenses, heartbeats, refused: Double
        /// The load of nodes, and of the fullest primary.
        let nodes, primaries: Double
        /// Milliseconds at a node.
        let wait: Double
    }

    struct Latency: Sendable, Encodable {
        /// Milliseconds at the servers, and until the retry of a refused request; without the network.
        let p50, p99, max: Double
    }

    enum Bottleneck: String, Sendable, Encodable { case nodes, primaries }

    let name: String
    let viewers: Int
    let seconds: Int
    /// In the fullest second, and on average.
    let licensesAtMost, licenses, heartbeatsAtMost: Double
    let nodes, primaries: Part
    let bottleneck: Bottleneck
    /// The number of viewers that would fill the bottleneck up to the plan's maximum load.
    let carries: Int
    /// Requests refused with 503, counted each time.
    let refused: Int
    /// Licenses refused with 503 because Redis took too long. Their retries are not simulated.
    let refusedByStore: Int
    let latency: Latency
    /// License requests whose every attempt was refused.
    let givenUp: Int
    let redisBytes: Double
    let postgreSQLConnections: Int
    /// Rows of keys that all nodes reread, per second on average.
    let keyReads: Double
    /// A day of licenses at the average rate.
    let recordBytesPerDay: Double
    /// In the fullest second.
    let logBytesPerSecond: Double
    let timeline: [Second]
    /// Whether the resources handle all arrivals, and no part exceeds the maximum load.
    let suffices: Bool

    /// Connections of a node to PostgreSQL: six, two of the record, three of reports. Source: `Documentation/Server/Cluster.md`, `Record.md`,
    /// `Reports.md`.
    static let connectionsPerNode = 11
    /// The interval in seconds at which a node rereads its keys. Source: `LicenseServer.followKeys`.
    static let keySeconds = 30.0

    init(_ name: String, _ plan: SizingPlan) {
        let arrivals = SizingArrivals(plan)
        let work = Self.work(plan, arrivals)
        let best = plan.bestCosts.map { costs in
            var plan = plan
            plan.costs = costs
            return Self.work(plan, arrivals)
        }
        let neededCores = work.nodes / plan.fullness
        let neededNodes = max(1, Int(saturating: (neededCores / Double(plan.coresPerNode) - 1e-9).rounded(.up)))
        let count = plan.nodes ?? neededNodes
        let exact = plan.asksSessions ? work.primaries / plan.fullness : 0
        let least = plan.asksSessions ? max(1, Int(saturating: (exact - 1e-9).rounded(.up))) : 0
        var neededPrimaries = least
        // Hashes are not quite even: that may take one more.
        while neededPrimaries > 0, neededPrimaries < least + 100,
            work.primaries * SizingSimulation.shares(plan, neededPrimaries).largest > plan.fullness
        { neededPrimaries += 1 }
        let primaries = plan.asksSessions ? plan.primaries ?? neededPrimaries : 0
        var simulation = SizingSimulation(plan, arrivals, nodes: count, primaries: primaries)
        simulation.run()
        let share = simulation.shares.largest
        let tally = simulation.tally
        self.name = name
        (viewers, seconds) = (plan.viewers, plan.seconds)
        licensesAtMost = tally.seconds.map(\.licenses).max() ?? 0
        heartbeatsAtMost = tally.seconds.map(\.heartbeats).max() ?? 0
        licenses = tally.licenses / Double(max(1, plan.seconds))
        let cores = Double(count * plan.coresPerNode)
        nodes = Part(
            exactlyNeeded: neededCores, exactlyNeededAtBest: best.map { $0.nodes / plan.fullness }, needed: neededNodes,
            count: count, fullest: work.nodes / cores)
        self.primaries = Part(
            exactlyNeeded: exact,
            exactlyNeededAtBest: best.map { plan.asksSessions ? $0.primaries / plan.fullness : 0 },
            needed: neededPrimaries, count: primaries,
            fullest: work.primaries * share)
        bottleneck = nodes.fullest >= self.primaries.fullest ? .nodes : .primaries
        let most = max(nodes.fullest, self.primaries.fullest)
        carries = most > 0 ? Int(saturating: Double(plan.viewers) * plan.fullness / most) : plan.viewers
        (refused, refusedByStore) = (
            Int(saturating: tally.refused.rounded()), Int(saturating: tally.refusedByStore.rounded())
        )
        let ms = { (time: Duration?) in (time ?? .zero).inSeconds * 1_000 }
        latency = Latency(
            p50: ms(tally.latencies.quantile(0.5)), p99: ms(tally.latencies.quantile(0.99)),
            max: ms(tally.latencies.largest))
        givenUp = Int(saturating: tally.givenUp.rounded())
        redisBytes = plan.asksSessions ? Double(plan.viewers) * plan.costs.accountBytes : 0
        postgreSQLConnections = count * Self.connectionsPerNode
        keyReads = Double(count * plan.liveKeys) / Self.keySeconds
        recordBytesPerDay = licenses * plan.costs.recordBytes * 86_400
        logBytesPerSecond =
            tally.seconds.map {
                $0.licenses * plan.costs.licenseLogBytes + $0.heartbeats * plan.costs.heartbeatLogBytes
            }.max() ?? 0
        timeline = tally.seconds.enumerated().map { index, second in
            let work = Self.work(plan, second.licenses, second.heartbeats)
            return Second(
                second: index, licenses: second.licenses, heartbeats: second.heartbeats, refused: second.refused,
                nodes: work.nodes / cores, primaries: work.primaries * share, wait: second.wait * 1_000)
        }
        suffices = refused == 0 && refusedByStore == 0 && most <= plan.fullness + 1e-9
    }

    /// The core seconds of the nodes and of all primaries for some licenses and heartbeats.
    private static func work(
        _ plan: SizingPlan, _ licenses: Double, _ heartbeats: Double
    ) -> (nodes: Double, primaries: Double) {
        let costs = plan.costs
        return (
            (licenses * costs.license + heartbeats * costs.heartbeat) / 1e6,
            (licenses * costs.redisLicense + heartbeats * costs.redisHeartbeat) / 1e6
        )
    }

    /// The work of the fullest second, of nodes and of primaries.
    private static func work(_ plan: SizingPlan, _ arrivals: SizingArrivals) -> (nodes: Double, primaries: Double) {
        let step = arrivals.binsPerSecond
        return stride(from: 0, to: arrivals.starts.count, by: step).reduce((0, 0)) { most, start in
            let bins = start..<min(start + step, arrivals.starts.count)
            let work = work(
                plan, bins.reduce(0) { $0 + arrivals.starts[$1] + arrivals.renewals[$1] },
                bins.reduce(0) { $0 + arrivals.heartbeats[$1] })
            return (max(most.0, work.nodes), max(most.1, work.primaries))
        }
    }
}
