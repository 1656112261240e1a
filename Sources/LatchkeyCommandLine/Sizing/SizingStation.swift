import Foundation

/// Cores behind a queue, on virtual time: the arrivals of a bin, the work done in it, the work left.
struct SizingStation: Sendable {
    /// All cores, and the number of cores that share one queue.
    let cores: Double
    let coresPerQueue: Double
    /// Seconds of work that may wait; the rest is turned away.
    let limit: Double
    let binSeconds: Double
    /// Seconds of queued work.
    private(set) var backlog = 0.0

    /// The outcome of a bin.
    struct Outcome: Sendable {
        /// The accepted share of arrivals, 0 to 1; by kind, in order of priority.
        var taken: [Double] = []
        /// The share of the cores' time that was used, 0 to 1.
        var fullness = 0.0
        /// Seconds that a request waits for a core.
        var wait = 0.0
    }

    /// - Parameters:
    ///   - work: the number of requests of each kind, and the core seconds of each. Earlier kinds have priority.
    ///   - refusal: the core seconds that a refused request takes.
    mutating func take(_ work: [(count: Double, cost: Double)], refusal: Double = 0) -> Outcome {
        let capacity = cores * binSeconds
        var room = max(0, capacity + limit * cores - backlog)
        var (done, outcome) = (0.0, Outcome())
        var later = work.reduce(0) { $0 + $1.count }
        for (count, cost) in work {
            later -= count
            // Turning away requests of this and of later kinds takes time, too.
            let free = max(0, room - later * refusal)
            let most = (free - count * refusal) / max(cost - refusal, 1e-12)
            let taken = count * cost <= free ? count : min(count, max(0, most))
            outcome.taken.append(count > 0 ? taken / count : 1)
            let spent = taken * cost + (count - taken) * refusal
            room -= spent
            done += spent
        }
        let before = backlog
        backlog = max(0, before + done - capacity)
        outcome.fullness = capacity > 0 ? (before + done - backlog) / capacity : 0
        let costs = work.reduce((0.0, 0.0)) { ($0.0 + $1.count, $0.1 + $1.count * $1.cost) }
        let each = costs.0 > 0 ? costs.1 / costs.0 : 0
        outcome.wait = (before + backlog) / 2 / max(cores, 1e-12) + chanceWait(outcome.fullness, each)
        return outcome
    }

    /// The wait caused by uneven arrivals: Sakasegawa's formula for many cores, assuming equal service times.
    ///
    /// Source: Sakasegawa, "An approximation formula L_q ≈ α·ρ^β/(1−ρ)", Annals of the Institute of Statistical Mathematics 29 (1977).
    private func chanceWait(_ fullness: Double, _ each: Double) -> Double {
        // Above that, the backlog includes it.
        let part = min(fullness, 0.95)
        return each * pow(part, (2 * (coresPerQueue + 1)).squareRoot() - 1) / (coresPerQueue * (1 - part)) / 2
    }
}
