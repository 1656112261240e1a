package import LatchkeyCore

/// The number of requests by outcome in each of the last seconds, for a console: of all tenants, and of each.
package final class OutcomeCounts: Sendable {
    /// One second.
    package struct Second: Sendable, Hashable {
        /// The second, counted from the start of the clock.
        package let number: Int64
        /// The number of requests by outcome; outcomes that did not happen are absent.
        package fileprivate(set) var counts: [LicenseOutcome: Int] = [:]
    }

    private typealias Ring = [Second?]

    private struct State {
        var all: Ring
        /// Of each tenant that had a request.
        var tenants: [String: Ring] = [:]
    }

    private let timekeeper: any Timekeeper
    private let empty: Ring
    private let state: Locked<State>

    /// - Parameters:
    ///   - seconds: how many seconds are kept, at least 1. Defaults to 60.
    ///   - timekeeper: the clock.
    package init(seconds: Int = 60, timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.timekeeper = timekeeper
        empty = Array(repeating: nil, count: max(1, seconds))
        state = Locked(State(all: empty))
    }

    /// Counts one request that ended now.
    /// - Parameter tenant: the request's tenant, one of the configuration; `nil` for none.
    package func count(_ outcome: LicenseOutcome, of tenant: String? = nil) {
        let now = timekeeper.uptime.components.seconds
        state.withLock { state in
            Self.count(outcome, at: now, in: &state.all)
            if let tenant { Self.count(outcome, at: now, in: &state.tenants[tenant, default: empty]) }
        }
    }

    private static func count(_ outcome: LicenseOutcome, at now: Int64, in ring: inout Ring) {
        let place = Int(now % Int64(ring.count))
        if ring[place]?.number != now { ring[place] = Second(number: now) }
        ring[place]?.counts[outcome, default: 0] += 1
    }

    /// The seconds that are kept, oldest first and with empty ones, up to the one before now, which is whole.
    /// - Parameter scope: the tenants whose requests count. Defaults to all.
    package func latest(in scope: TenantScope = .all) -> [Second] {
        let now = timekeeper.uptime.components.seconds
        let rings = state.withLock { state in
            scope.isAll ? [state.all] : state.tenants.filter { scope.covers($0.key) }.map(\.value)
        }
        return (max(0, now - Int64(empty.count) + 1)..<max(0, now)).map { number in
            var second = Second(number: number)
            for ring in rings {
                guard let kept = ring[Int(number % Int64(ring.count))], kept.number == number else { continue }
                second.counts.merge(kept.counts, uniquingKeysWith: +)
            }
            return second
        }
    }
}
