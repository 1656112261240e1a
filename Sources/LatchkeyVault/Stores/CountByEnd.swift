import Foundation
import LatchkeyCore

/// Counts things that expire, by the second in which they do. A thing counts to the end of that second.
struct CountByEnd {
    /// Things that ended longer ago are forgotten; a clock that is set back by less finds them again.
    private static let memory: TimeInterval = 3_600
    private var seconds: [Int: Int] = [:]
    /// The number of seconds at which the past is forgotten, so that the cost of changes stays constant on average.
    private var limit = 8_192

    /// Removes things and adds others. Things that have expired are ignored.
    mutating func replace(_ former: [Date], by new: [Date], at now: Date) {
        for end in former where end > now { add(-1, at: end) }
        for end in new where end > now { add(1, at: end) }
        guard seconds.count >= limit else { return }
        let oldest = Self.second(now.addingTimeInterval(-Self.memory))
        seconds = seconds.filter { $0.key >= oldest }
        limit = max(8_192, seconds.count * 2)
    }

    /// How many things end after a date.
    func count(after now: Date) -> Int {
        let now = now.timeIntervalSince1970
        return seconds.reduce(0) { Double($1.key) > now ? $0 + $1.value : $0 }
    }

    private mutating func add(_ difference: Int, at end: Date) {
        let count = (seconds[Self.second(end)] ?? 0) + difference
        seconds[Self.second(end)] = count > 0 ? count : nil
    }

    private static func second(_ date: Date) -> Int { Int(saturating: date.timeIntervalSince1970.rounded(.up)) }
}
