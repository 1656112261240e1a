/// How a node stops: on a signal it reports not ready; after a while it stops accepting; then it finishes its requests; then it ends.
///
/// A pure value; time comes in. Slots are not released: they belong to viewers, not to the node.
///
/// Source: `Documentation/LicenseServer.md` §9.2.
package struct DrainPlan: Sendable, Hashable {
    /// The node's phase.
    package enum Phase: Sendable, Hashable {
        /// It takes requests.
        case running
        /// It still takes requests, but reports that it is not ready, until then.
        case draining(until: Duration)
        /// It takes no requests and finishes its current ones, until then at the latest.
        case finishing(until: Duration)
        /// The process ends.
        case ended(End)
    }

    /// How the process ends.
    package enum End: Sendable, Hashable {
        /// Everything was answered.
        case clean
        /// There was no time to answer everything.
        case late
        /// A second signal asked not to wait.
        case atOnce
    }

    /// An event in the life of a node.
    package enum Event: Sendable, Hashable {
        /// SIGTERM or SIGINT.
        case signal
        /// Time passed.
        case time
        /// Nothing is left to be answered, after it stopped accepting.
        case idle
    }

    /// The node's phase.
    package private(set) var phase = Phase.running
    private let delay: Duration
    private let limit: Duration

    /// - Parameters:
    ///   - delay: how long it takes requests after it says that it is not ready: longer than a balancer takes to ask. Defaults to 5 s.
    ///   - limit: how long it may take to finish. Defaults to 10 s.
    package init(delay: Duration = .seconds(5), limit: Duration = .seconds(10)) {
        self.delay = max(delay, .zero)
        self.limit = max(limit, .zero)
    }

    /// Moves on by at most one phase.
    /// - Parameter uptime: now, of a clock that never goes back.
    /// - Returns: the phase that the event began; `nil` if it changed nothing.
    package mutating func take(_ event: Event, at uptime: Duration) -> Phase? {
        guard let next = next(event, uptime) else { return nil }
        phase = next
        return next
    }

    /// When the plan needs the next `time` event; `nil` if it waits for nothing.
    package var wakeUp: Duration? {
        switch phase {
        case .draining(let end), .finishing(let end): end
        case .running, .ended: nil
        }
    }

    private func next(_ event: Event, _ now: Duration) -> Phase? {
        switch (phase, event) {
        case (.running, .signal): .draining(until: now + delay)
        case (.draining, .signal), (.finishing, .signal): .ended(.atOnce)
        case (.draining(let end), .time) where now >= end: .finishing(until: now + limit)
        case (.finishing, .idle): .ended(.clean)
        case (.finishing(let end), .time) where now >= end: .ended(.late)
        default: nil
        }
    }
}
