import Foundation
import LatchkeyCore

/// Arrivals over time: license requests and heartbeats per bin, drawn from the plan's seed.
///
/// Playbacks are drawn per bin, not one by one: ten million take no more time and memory than ten thousand.
struct SizingArrivals: Sendable {
    let binsPerSecond: Int
    /// License requests of playbacks that begin.
    private(set) var starts: [Double]
    /// License requests of continuing playbacks.
    private(set) var renewals: [Double]
    private(set) var heartbeats: [Double]

    init(_ plan: SizingPlan) {
        var draws = SizingDraws(seed: plan.seed)
        binsPerSecond = plan.binsPerSecond
        let count = plan.seconds * binsPerSecond
        let bins = { [binsPerSecond] (duration: Duration) in
            max(1, Int(saturating: duration.inSeconds * Double(binsPerSecond)))
        }
        let cycle = plan.watching.map(bins)
        let keys = Double(plan.keysPerPlayback)
        var begun = [Double](repeating: 0, count: count)
        var renewed = begun
        var beats = begun
        if let kickOff = plan.kickOff {
            let share = draws.split(plan.viewers, over: min(bins(kickOff), count))
            begun.replaceSubrange(0..<share.count, with: share)
            // A viewer who leaves is followed by another.
            if let cycle { for bin in begun.indices.dropFirst(cycle) { begun[bin] += begun[bin - cycle] } }
            renewed = Self.renewed(plan, begun, cycle, binsPerSecond).map { draws.poisson($0) }
        } else {
            let rates = Self.steadyRates(plan)
            begun = begun.map { _ in draws.poisson(rates.starts / Double(plan.binsPerSecond)) }
            renewed = renewed.map { _ in draws.poisson(rates.renewals / Double(plan.binsPerSecond)) }
            if cycle != nil { beats = beats.map { _ in draws.poisson(rates.heartbeats / Double(plan.binsPerSecond)) } }
        }
        if let period = plan.heartbeat.map(bins) {
            if plan.kickOff != nil {
                beats = Self.beats(begun, every: period, until: cycle)
            } else if cycle == nil {
                // Viewers who were already playing each have their own moment.
                let first = draws.split(plan.viewers, over: period)
                beats = beats.indices.map { first[$0 % period] }
            }
        }
        (starts, renewals, heartbeats) = (begun.map { $0 * keys }, renewed.map { $0 * keys }, beats)
    }

    /// Heartbeats in each bin, from the number of viewers who began in each.
    private static func beats(_ begun: [Double], every period: Int, until end: Int?) -> [Double] {
        var beats = [Double](repeating: 0, count: begun.count)
        // A viewer who leaves at the end sends no heartbeat at or after it.
        let last = end.map { (($0 - 1) / period + 1) * period }
        for bin in begun.indices.dropFirst(period) {
            beats[bin] = beats[bin - period] + begun[bin - period]
            if let last, bin >= last { beats[bin] -= begun[bin - last] }
        }
        return beats
    }

    /// Playbacks that begin, playbacks that renew, and heartbeats, each per second, of a crowd whose viewers come and leave. A crowd that
    /// never leaves only renews.
    private static func steadyRates(_ plan: SizingPlan) -> (starts: Double, renewals: Double, heartbeats: Double) {
        let viewers = Double(plan.viewers)
        guard let watching = plan.watching?.inSeconds else {
            return (0, viewers * plan.renewals.reduce(0) { $0 + $1.weight / Double($1.seconds) }, 0)
        }
        // As often as it fits before the end.
        func times(_ seconds: Double) -> Double { max(0, (watching / seconds).rounded(.up) - 1) }
        let renewals = plan.renewals.reduce(0) { $0 + $1.weight * times(Double($1.seconds)) }
        let beats = plan.heartbeat.map { times($0.inSeconds) } ?? 0
        return (viewers / watching, viewers / watching * renewals, viewers / watching * beats)
    }

    /// The average number of playbacks that renew in each bin, from the number that began in each.
    private static func renewed(_ plan: SizingPlan, _ begun: [Double], _ cycle: Int?, _ binsPerSecond: Int) -> [Double]
    {
        var renewed = [Double](repeating: 0, count: begun.count)
        for (seconds, weight) in plan.renewals {
            let interval = seconds * binsPerSecond
            for (bin, number) in begun.enumerated() where number > 0 {
                let end = min(begun.count, cycle.map { bin + $0 } ?? .max)
                for renewal in stride(from: bin + interval, to: end, by: interval) {
                    renewed[renewal] += number * weight
                }
            }
        }
        return renewed
    }
}

/// Random numbers of the distributions that arrivals have. The same seed gives the same numbers.
struct SizingDraws: Sendable {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// A Poisson-distributed number with a given mean.
    mutating func poisson(_ mean: Double) -> Double {
        guard mean > 0 else { return 0 }
        guard mean < 30 else { return max(0, (mean + mean.squareRoot() * normal()).rounded()) }
        var (product, count, limit) = (uniform(), 0.0, exp(-mean))
        while product > limit {
            product *= uniform()
            count += 1
        }
        return count
    }

    /// Distributes a number over equal parts; the sum is the number.
    mutating func split(_ number: Int, over parts: Int) -> [Double] {
        split(Double(number), shares: [Double](repeating: 1 / Double(max(1, parts)), count: max(1, parts)))
    }

    /// Distributes a number over parts whose probabilities are their shares, which sum to 1.
    mutating func split(_ number: Double, shares: [Double]) -> [Double] {
        var (rest, restOfShares) = (number, 1.0)
        return shares.indices.map { index in
            let isLast = index == shares.count - 1
            let part = isLast ? rest : binomial(rest, min(1, shares[index] / max(restOfShares, 1e-12)))
            rest -= part
            restOfShares -= shares[index]
            return part
        }
    }

    private mutating func binomial(_ number: Double, _ chance: Double) -> Double {
        let mean = number * chance
        guard mean > 0 else { return 0 }
        let variance = mean * (1 - chance)
        if variance >= 20 { return min(number, max(0, (mean + variance.squareRoot() * normal()).rounded())) }
        // Few of many are as good as Poisson's; of few each is drawn.
        if number > 200 { return chance > 0.5 ? number - binomial(number, 1 - chance) : min(number, poisson(mean)) }
        return (0..<Int(saturating: number)).reduce(0) { sum, _ in sum + (uniform() < chance ? 1 : 0) }
    }

    private mutating func uniform() -> Double { Double.random(in: 0..<1, using: &generator) }

    private mutating func normal() -> Double {
        (-2 * log(1 - uniform())).squareRoot() * cos(2 * .pi * uniform())
    }
}
