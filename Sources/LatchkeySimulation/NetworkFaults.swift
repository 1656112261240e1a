/// The faults of a simulated network. None by default.
public struct NetworkFaults: Sendable, Hashable {
    /// The fraction of requests without a reply, 0 to 1. Half of these do not reach the service; for the other half the reply
    /// is lost, so a single-use token is spent.
    public var lossRate: Double
    /// Selects these requests; the same seed and order of requests lose the same ones.
    public var seed: UInt64
    /// The times without any connection, by the timekeeper's uptime.
    public var outages: [Range<Duration>]
    /// The delay of each request, and the time to detect a missing connection.
    public var delay: Duration

    /// - Parameters:
    ///   - lossRate: the fraction of requests without a reply, 0 to 1.
    ///   - seed: selects these requests.
    ///   - outages: the times without any connection, by the timekeeper's uptime.
    ///   - delay: the delay of each request.
    public init(lossRate: Double = 0, seed: UInt64 = 1, outages: [Range<Duration>] = [], delay: Duration = .zero) {
        self.lossRate = lossRate
        self.seed = seed
        self.outages = outages
        self.delay = delay
    }
}
