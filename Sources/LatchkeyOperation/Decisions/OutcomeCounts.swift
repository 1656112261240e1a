package import LatchkeyCore

/// How many requests ended how in each of the last seconds, for a console.
package final class OutcomeCounts: Sendable {
    /// One second.
    package struct Second: Sendable, Hashable {
        /// The second, counted from the start of the clock.
        package let number: Int64
        /// How many requests ended how; outcomes that did not happen are absent.
        package fileprivate(set) var counts: [LicenseOutcome: Int] = [:]
    }

    private let timekeeper: any Timekeeper
    private let seconds: Locked<[Second?]>

    /// - Parameters:
    ///   - seconds: how many seconds are kept, at least 1. Defaults to 60.
    ///   - timekeeper: the clock.
    package init(seconds: Int = 60, timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.timekeeper = timekeeper
        self.seconds = Locked(Array(repeating: nil, count: max(1, seconds)))
    }

    /// Counts one request that ended now.
    package func count(_ outcome: LicenseOutcome) {
        let now = timekeeper.uptime.components.seconds
        seconds.withLock { seconds in
            let place = Int(now % Int64(seconds.count))
            var second = seconds[place].flatMap { $0.number == now ? $0 : nil } ?? Second(number: now)
            second.counts[outcome, default: 0] += 1
            seconds[place] = second
        }
    }

    /// The seconds that are kept, oldest first and with empty ones, up to the one before now, which is whole.
    package var latest: [Second] {
        let now = timekeeper.uptime.components.seconds
        return seconds.withLock { seconds in
            (max(0, now - Int64(seconds.count) + 1)..<max(0, now)).map { number in
                let kept = seconds[Int(number % Int64(seconds.count))]
                return kept?.number == number ? kept ?? Second(number: number) : Second(number: number)
            }
        }
    }
}
