import Foundation
import LatchkeyCore

/// The shape of a load: playbacks per second, duration, and viewers.
struct LoadPlan: Sendable {
    /// When playbacks begin.
    enum Arrivals: String, Sendable {
        /// Randomly, as people arrive: independently of one another.
        case poisson
        /// One by one, at equal intervals.
        case fixed
    }

    /// Playbacks that begin per second.
    var rate = 10.0
    /// The time in which playbacks begin.
    var length = Duration.seconds(10)
    var arrivals = Arrivals.poisson
    /// The number of accounts. Each playback belongs to any one of them.
    var viewers = 100
    /// How long a viewer watches, renewing and sending heartbeats as the server says; with `nil`, requests one license and leaves.
    var watching: Duration?
    /// How often a request that the server could not answer is sent again.
    var retries = 0
    /// Whether to wait as long as `Retry-After` says before a retry. Otherwise, and without one, a tenth of a second.
    var obeysRetryAfter = true
    /// How long to wait for a reply.
    var patience = Duration.seconds(10)
    /// The maximum number of concurrent playbacks; a playback above it does not begin, and counts as `notStarted`.
    var mostPlaybacks = 50_000
    /// The share of playbacks that take slots for another system's licenses instead of licenses, 0 to 1.
    var slotPart = 0.0
    /// Draws arrivals and viewers: the same seed gives the same.
    var seed: UInt64 = 1

    /// When playbacks begin, counted from the start of the load.
    func starts() -> LoadStarts { LoadStarts(self) }
}

/// The moments at which playbacks begin, from the start of a load.
struct LoadStarts: Sequence, IteratorProtocol {
    private let rate, limit: Double
    private let arrivals: LoadPlan.Arrivals
    private var generator: SeededGenerator
    private var (time, count) = (0.0, 0)

    init(_ plan: LoadPlan) {
        (rate, limit, arrivals) = (Swift.max(plan.rate, 0.001), plan.length.inSeconds, plan.arrivals)
        generator = SeededGenerator(seed: plan.seed)
    }

    mutating func next() -> Duration? {
        count += 1
        switch arrivals {
        case .fixed: time = Double(count) / rate
        case .poisson: time -= log(1 - Double.random(in: 0..<1, using: &generator)) / rate
        }
        return time < limit ? .seconds(time) : nil
    }
}
