/// How a simulated network fails. By default it does not.
public struct NetworkFaults: Sendable, Hashable {
    /// The share of requests that get no reply, 0 to 1. Of these, one half does not reach the service, of the other the reply is
    /// lost: a token that is good once is used then.
    public var lossRate: Double
    /// Decides which requests these are; the same seed and order of requests lose the same.
    public var seed: UInt64
    /// When there is no connection at all, by the timekeeper's uptime.
    public var outages: [Range<Duration>]
    /// How long each request takes on its way, and each that finds no connection takes to notice.
    public var delay: Duration

    /// - Parameters:
    ///   - lossRate: the share of requests that get no reply, 0 to 1.
    ///   - seed: decides which requests these are.
    ///   - outages: when there is no connection at all, by the timekeeper's uptime.
    ///   - delay: how long each request takes on its way.
    public init(lossRate: Double = 0, seed: UInt64 = 1, outages: [Range<Duration>] = [], delay: Duration = .zero) {
        self.lossRate = lossRate
        self.seed = seed
        self.outages = outages
        self.delay = delay
    }
}
