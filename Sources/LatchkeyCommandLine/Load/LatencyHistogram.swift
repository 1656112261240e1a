import LatchkeyCore

/// A histogram of latencies with an error of at most 1.6 %: 64 steps for each doubling, from a microsecond to 19 hours.
///
/// Its size does not depend on the number of values, and two can be added.
struct LatencyHistogram: Sendable, Equatable {
    /// The steps of a doubling, as a power of two.
    private static let bits = 6
    private static let largest: UInt64 = 1 << 36

    private(set) var count = 0
    private(set) var largest = Duration.zero
    private var sum = 0.0
    /// By the step's number, up to the largest that occurred.
    private var counts: [UInt32] = []

    /// Counts one latency, or a number of equal ones.
    mutating func add(_ latency: Duration, times: Int = 1) {
        guard times > 0 else { return }
        let latency = max(latency, .zero)
        let index = Self.index(min(UInt64(saturating: latency.inSeconds * 1e6), Self.largest))
        if index >= counts.count { counts += [UInt32](repeating: 0, count: index + 1 - counts.count) }
        counts[index] = counts[index].addingReportingOverflow(UInt32(clamping: times)).partialValue
        count += times
        sum += latency.inSeconds * Double(times)
        largest = max(largest, latency)
    }

    mutating func add(_ other: LatencyHistogram) {
        if other.counts.count > counts.count {
            counts += [UInt32](repeating: 0, count: other.counts.count - counts.count)
        }
        for (index, number) in other.counts.enumerated() {
            counts[index] = counts[index].addingReportingOverflow(number).partialValue
        }
        count += other.count
        sum += other.sum
        largest = max(largest, other.largest)
    }

    /// The mean in seconds; 0 if empty.
    var mean: Double { count == 0 ? 0 : sum / Double(count) }

    /// The latency that a given share does not exceed; `nil` if empty.
    /// - Parameter part: from 0 to 1, such as 0.99.
    func quantile(_ part: Double) -> Duration? {
        guard count > 0 else { return nil }
        let rank = max(1, Int((min(max(part, 0), 1) * Double(count)).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += Int(number)
            if seen >= rank { return min(.microseconds(Self.upperBound(index)), largest) }
        }
        return largest
    }

    private static func index(_ value: UInt64) -> Int {
        let exponent = max(0, UInt64.bitWidth - value.leadingZeroBitCount - bits - 1)
        return exponent << bits + Int(value >> UInt64(exponent))
    }

    /// The largest value of a step.
    private static func upperBound(_ index: Int) -> UInt64 {
        let exponent = max(0, index >> bits - 1)
        let first = UInt64(index - exponent << bits)
        return (first + 1) << UInt64(exponent) - 1
    }
}
