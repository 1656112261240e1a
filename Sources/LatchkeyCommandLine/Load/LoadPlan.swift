import Foundation
import LatchkeyCore

/// How a load comes: so many playbacks a second for so long, by so many viewers.
struct LoadPlan: Sendable {
    /// When playbacks begin.
    enum Arrivals: String, Sendable {
        /// As people come: independently of one another.
        case poisson
        /// One after the other at equal distances.
        case fixed
    }

    /// Playbacks that begin in a second.
    var rate = 10.0
    /// For how long playbacks begin.
    var length = Duration.seconds(10)
    var arrivals = Arrivals.poisson
    /// How many accounts there are. A playback is that of any of them.
    var viewers = 100
    /// How long a viewer watches, renewing and sending heartbeats as the server says; `nil` asks for one license and leaves.
    var watching: Duration?
    /// How often a request is sent again that the server could not answer.
    var retries = 0
    /// Whether to wait as long as `Retry-After` says before that. Otherwise, and without one, a tenth of a second.
    var obeysRetryAfter = true
    /// How long to wait for a reply.
    var patience = Duration.seconds(10)
    /// How many playbacks go on at once at most; a playback beyond does not begin, and counts as `notStarted`.
    var mostPlaybacks = 50_000
    /// Which part of the playbacks takes slots for another system's licenses instead of licenses, 0 to 1.
    var slotPart = 0.0
    /// Draws arrivals and viewers: the same seed gives the same.
    var seed: UInt64 = 1

    /// When playbacks begin, from the start of the load.
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
