/// Stops asking an engine that has failed for a while, and tries again later.
///
/// Closed: every caller asks. It opens once nothing but failures came for the time of `patience`, so that many requests in one stall are one
/// failure. Open: no caller asks. After a pause it is half open: one asks at a time. An answer closes it, and a failure opens it again.
///
/// An engine that says that it cannot do its work is away from its first failure on; one that is late, once it has been late for the time
/// of `patience`. An engine that fails again within a minute has to answer for longer each time before it is back, so that its users do not
/// flap. A pure value; time comes in.
package struct CircuitBreaker: Sendable {
    /// The breaker's phase.
    package enum Phase: Sendable, Hashable {
        case closed, open, halfOpen
    }

    /// When the breaker moves.
    package struct Limits: Sendable, Hashable {
        /// For how long an engine has to fail before it is left alone; `nil` for one that is part of this process and cannot be away.
        package let patience: Duration?
        /// How long the breaker stays open.
        package let pause: Duration

        /// - Parameters:
        ///   - patience: for how long an engine has to fail before it is left alone. Defaults to 2 s.
        ///   - pause: how long the breaker stays open. Defaults to 1 s.
        package init(patience: Duration? = .seconds(2), pause: Duration = .seconds(1)) {
            self.patience = patience
            self.pause = pause
        }

        /// Opens at the first failure, and may be tried again immediately: for an engine whose work can wait.
        package static let immediate = Limits(patience: .zero, pause: .zero)
        /// For a tenant's own service, which may be far away and slow.
        package static let callout = Limits(pause: .seconds(10))
        /// Never opens: lateness of one's own processor or disk is overload, not an outage.
        package static let embedded = Limits(patience: nil)
    }

    /// Leave to ask. The result goes back with it.
    package struct Permit: Sendable, Hashable {
        fileprivate let period: Int
    }

    /// An engine that fails again within this time has to answer for longer before it is back.
    private static let calm = Duration.seconds(60)
    /// For how long it has to answer: at first, twice that the next time, and at most.
    private static let settling = (first: Duration.seconds(1), longest: Duration.seconds(30))

    private let limits: Limits
    /// The phase; it is half open only once a caller asks after the pause.
    package private(set) var phase = Phase.closed
    /// Whether the engine counts as away, from the first failure that proves it to the answer that ends it.
    package private(set) var isAway = false
    /// Since when there were only failures; `nil` after an answer.
    private var failing: Duration?
    /// While it counts as away: since when it answers again.
    private var answering: Duration?
    /// For how long it has to answer before it is back, and when it last was.
    private var settling = Duration.zero
    private var back: Duration?
    /// Counts the phases, so that a late answer from an earlier one does not count.
    private var period = 0
    private var opened = Duration.zero
    private var isTrying = false

    /// - Parameter limits: when it moves.
    package init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Whether it is worth asking again: it failed last, or has to show that it is back.
    package var isInDoubt: Bool { failing != nil || isAway }

    /// Leave to ask now, or `nil`.
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

    /// The engine was asked and answered.
    /// - Parameter uptime: now, of a clock that never goes back.
    package mutating func answered(_ permit: Permit, at uptime: Duration) {
        guard permit.period == period else { return }
        failing = nil
        guard isAway else { return }
        let since = answering ?? uptime
        answering = since
        guard uptime - since >= settling else {
            if phase == .halfOpen { open(at: uptime) }
            return
        }
        (isAway, answering, back) = (false, nil, uptime)
        move(to: .closed)
    }

    /// The engine was asked and failed.
    /// - Parameters:
    ///   - isLate: whether it only took too long, which may be the fault of this machine.
    ///   - uptime: now, of a clock that never goes back.
    package mutating func failed(_ permit: Permit, isLate: Bool, at uptime: Duration) {
        guard permit.period == period else { return }
        let since = failing ?? uptime
        (failing, answering) = (since, nil)
        let isLasting = limits.patience.map { uptime - since >= $0 } ?? false
        if !isAway, !isLate || isLasting {
            let isAgain = back.map { uptime - $0 < Self.calm } ?? false
            settling = isAgain ? min(max(settling * 2, Self.settling.first), Self.settling.longest) : .zero
            isAway = true
        }
        if phase == .halfOpen || isLasting { open(at: uptime) }
    }

    /// The caller was cancelled, and the engine's state is unknown.
    package mutating func gaveUp(_ permit: Permit) {
        if permit.period == period { isTrying = false }
    }

    private mutating func open(at uptime: Duration) {
        opened = uptime
        move(to: .open)
    }

    private mutating func move(to next: Phase) {
        phase = next
        period += 1
        isTrying = false
    }
}
