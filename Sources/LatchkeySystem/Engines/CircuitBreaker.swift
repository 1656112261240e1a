/// Stops asking somebody who does not answer, and tries again later.
///
/// Closed: everybody asks. After some failures in a row it opens: nobody asks. After a pause it is half open: one asks at a time. Enough
/// answers close it, and one more failure opens it again. A pure value; time comes in.
package struct CircuitBreaker: Sendable {
    /// Where the breaker stands.
    package enum Phase: Sendable, Hashable {
        case closed, open, halfOpen
    }

    /// When the breaker moves.
    package struct Limits: Sendable, Hashable {
        /// How many failures in a row open it, at least 1.
        package let failures: Int
        /// How long it stays open.
        package let pause: Duration
        /// How many answers in a row close it when it is half open, at least 1.
        package let successes: Int

        /// - Parameters:
        ///   - failures: how many failures in a row open it. Defaults to 5.
        ///   - pause: how long it stays open. Defaults to 10 s.
        ///   - successes: how many answers in a row close it when it is half open. Defaults to 1.
        package init(failures: Int = 5, pause: Duration = .seconds(10), successes: Int = 1) {
            self.failures = max(1, failures)
            self.pause = pause
            self.successes = max(1, successes)
        }
    }

    /// Leave to ask. The result goes back with it.
    package struct Permit: Sendable, Hashable {
        fileprivate let period: Int
    }

    private let limits: Limits
    /// Where it stands; it is half open only once somebody asks after the pause.
    package private(set) var phase = Phase.closed
    /// Counts the phases, so that a late answer from an earlier one does not count.
    private var period = 0
    /// Failures in a row while closed, answers in a row while half open.
    private var count = 0
    private var opened = Duration.zero
    private var isTrying = false

    /// - Parameter limits: when it moves.
    package init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Leave to ask now; `nil` if it is not to be had.
    /// - Parameter uptime: now, of a clock that never goes back.
    package mutating func permit(at uptime: Duration) -> Permit? {
        if phase == .open, uptime - opened >= limits.pause { move(to: .halfOpen) }
        switch phase {
        case .closed: return Permit(period: period)
        case .open: return nil
        case .halfOpen:
            guard !isTrying else { return nil }
            isTrying = true
            return Permit(period: period)
        }
    }

    /// Somebody was asked and answered.
    package mutating func answered(_ permit: Permit) {
        guard permit.period == period else { return }
        switch phase {
        case .closed: count = 0
        case .open: break
        case .halfOpen:
            isTrying = false
            count += 1
            if count >= limits.successes { move(to: .closed) }
        }
    }

    /// Somebody was asked and failed.
    /// - Parameter uptime: now, of a clock that never goes back.
    package mutating func failed(_ permit: Permit, at uptime: Duration) {
        guard permit.period == period else { return }
        count += 1
        guard phase == .halfOpen || count >= limits.failures else { return }
        opened = uptime
        move(to: .open)
    }

    private mutating func move(to next: Phase) {
        phase = next
        period += 1
        count = 0
        isTrying = false
    }
}
