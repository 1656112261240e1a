import LatchkeyCore

/// How many requests are worked on at once, found by how long they take: one more for each round of requests that are answered in time,
/// a part less whenever one is late. What comes beyond it is refused at the door, before it costs anything.
///
/// The queue before the RSA threads bounds what waits there. This bounds everything else: a processor that tokens, stores and logs
/// share with other programs.
///
/// Source: `Documentation/LicenseServer.md` §9.1.
package final class ConcurrencyLimit: Sendable {
    private struct State {
        var limit: Double
        var running = 0
        var lastCut = Duration.zero
    }

    private let target: Duration
    private let bounds: ClosedRange<Double>
    private let state: Locked<State>

    /// - Parameters:
    ///   - least: how many may always run.
    ///   - most: how many may run at most. Defaults to 4,096.
    ///   - target: how long a request may take. Defaults to 60 ms.
    package init(least: Int, most: Int = 4_096, target: Duration = .milliseconds(60)) {
        self.target = target
        bounds = Double(max(1, least))...Double(max(1, least, most))
        state = Locked(State(limit: Double(max(1, least)) * 4))
    }

    /// How many may run now.
    package var limit: Int { state.withLock { Int($0.limit) } }

    /// How many run.
    package var running: Int { state.withLock { $0.running } }

    /// A request comes.
    /// - Returns: whether it may run. Then `end` has to follow.
    package func begin() -> Bool {
        state.withLock { state in
            guard state.running < Int(state.limit) else { return false }
            state.running += 1
            return true
        }
    }

    /// A request that ran has ended.
    /// - Parameters:
    ///   - duration: how long it took.
    ///   - uptime: now.
    package func end(after duration: Duration, at uptime: Duration) {
        state.withLock { state in
            let wasBusy = Double(state.running) * 2 >= state.limit
            state.running = max(0, state.running - 1)
            if duration <= target {
                // A limit that nobody reaches says nothing of what the server can do.
                if wasBusy { state.limit = min(bounds.upperBound, state.limit + 1 / state.limit) }
            } else if uptime - state.lastCut >= target {
                // All that ran beside a late one are late for the same reason: that is one cut.
                state.lastCut = uptime
                state.limit = max(bounds.lowerBound, state.limit * 0.8)
            }
        }
    }
}
