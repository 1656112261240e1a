import LatchkeyCore

/// One value of a metric, or one histogram, for one set of label values.
package protocol MetricCell: Sendable {
    /// The metric's type as the text format calls it.
    static var type: String { get }
    /// Its lines: the suffix of the metric's name, the bucket's upper bound if it is one, and the value.
    var lines: [MetricLine] { get }
}

/// One line of a metric: `_bucket`, 0.25 and a count, for example.
package struct MetricLine: Sendable, Hashable {
    /// The suffix of the metric's name.
    let suffix: String
    /// The upper bound of a bucket; `nil` for all else.
    let bound: Double?
    let value: Double

    init(suffix: String = "", bound: Double? = nil, value: Double) {
        (self.suffix, self.bound, self.value) = (suffix, bound, value)
    }
}

/// A number that only rises.
package final class Counter: MetricCell {
    package static let type = "counter"
    private let count = Locked<UInt64>(0)

    init() {}

    /// Adds to it.
    package func add(_ number: UInt64 = 1) { count.withLock { $0 &+= number } }

    /// The number now.
    package var value: UInt64 { count.withLock { $0 } }

    package var lines: [MetricLine] { [MetricLine(value: Double(value))] }
}

/// A number that rises and falls.
package final class Gauge: MetricCell {
    package static let type = "gauge"
    private let number = Locked(0.0)

    init() {}

    /// Sets it.
    package func set(_ value: Double) { number.withLock { $0 = value } }

    /// The number now.
    package var value: Double { number.withLock { $0 } }

    package var lines: [MetricLine] { [MetricLine(value: value)] }
}

/// The distribution of a duration.
package final class Histogram: MetricCell {
    package static let type = "histogram"

    private struct State {
        /// The number of times in each bucket alone; the last one is for all beyond the bounds.
        var counts: [UInt64]
        var sum = Duration.zero
    }

    /// In seconds, as they are written.
    private let bounds: [Double]
    /// As times are compared with them: to turn a duration into seconds takes longer than all the rest.
    private let limits: [Duration]
    private let state: Locked<State>

    /// - Parameter bounds: the upper bounds of the buckets in seconds, rising.
    init(bounds: [Double]) {
        self.bounds = bounds
        limits = bounds.map { .seconds($0) }
        state = Locked(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// Counts a time.
    package func observe(_ time: Duration) {
        var bucket = 0
        while bucket < limits.count, time > limits[bucket] { bucket += 1 }
        state.withLock { state in
            state.counts[bucket] &+= 1
            state.sum += time
        }
    }

    /// The number of times counted.
    package var count: UInt64 { state.withLock { $0.counts.reduce(0, &+) } }

    package var lines: [MetricLine] {
        let state = state.withLock { $0 }
        var lines: [MetricLine] = []
        var total = 0.0
        for (bound, count) in zip(bounds + [.infinity], state.counts) {
            total += Double(count)
            lines.append(MetricLine(suffix: "_bucket", bound: bound, value: total))
        }
        return lines + [
            MetricLine(suffix: "_sum", value: state.sum.inSeconds), MetricLine(suffix: "_count", value: total),
        ]
    }
}
