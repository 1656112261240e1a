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
    /// Draws arrivals and viewers: the same seed gives the same.
    var seed: UInt64 = 1

    /// When playbacks begin, from the start of the load.
    func starts() -> some Sequence<Duration> {
        let (rate, arrivals) = (max(rate, 0.001), arrivals)
        let limit = length.inSeconds
        return sequence(state: (time: 0.0, count: 0, generator: SeededGenerator(seed: seed))) { state in
            switch arrivals {
            case .fixed:
                state.count += 1
                state.time = Double(state.count) / rate
            case .poisson:
                let drawn = Double.random(in: 0..<1, using: &state.generator)
                state.time -= log(1 - drawn) / rate
            }
            return state.time < limit ? .seconds(state.time) : nil
        }
    }
}
