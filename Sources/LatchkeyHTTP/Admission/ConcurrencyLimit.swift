import LatchkeyCore

/// The limit of requests in progress, found by how long they take: one more for each round of requests that are answered in time, a part
/// less whenever one is late. Requests beyond it are refused before they cost anything.
///
/// The queue before the RSA threads bounds the work that waits there. This bounds everything else: a processor that tokens, stores and logs
/// share with other programs. Refusals of the queue behind it make it smaller, too, because they come later and cost more.
///
/// Source: `Documentation/LicenseServer.md` §9.1.
package final class ConcurrencyLimit: Sendable {
    private struct State {
        var limit: Double
        var running = TenantShares()
        /// How many run of each client that has any.
        var clients: [Int: Int] = [:]
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
    package var running: Int { state.withLock { $0.running.total } }

    /// A request comes.
    /// - Parameters:
    ///   - lane: the kind of work. A part of the limit is kept for each lane that goes before it.
    ///   - client: the request's client. A part of the lane's limit is kept for clients that have little running. `nil` for none.
    ///   - tenant: the viewer's tenant. A tenant below its share is let in, however much others have running. `nil` for none, which has one
    ///     share.
    /// - Returns: whether it may run. Then `end` has to follow.
    package func begin(_ lane: AdmissionLane, of client: Int? = nil, tenant: String? = nil) -> Bool {
        state.withLock { state in
            let own = client.flatMap { state.clients[$0] } ?? 0
            let share = lane.share * (own < Self.few ? 1 : Self.shareOfMany)
            let places = max(1, Int(state.limit * share))
            guard state.running.begin(tenant, within: places) else { return false }
            if let client { state.clients[client] = own + 1 }
            return true
        }
    }

    /// As many as a viewer requests together.
    private static let few = 4
    /// The part of a lane that clients with more running may fill.
    private static let shareOfMany = 0.75

    /// A request that ran has ended.
    /// - Parameters:
    ///   - duration: how long it took.
    ///   - wasShed: whether it was refused later for lack of time: then too many were let in.
    ///   - client: as at its begin.
    ///   - tenant: as at its begin.
    ///   - uptime: now.
    package func end(
        after duration: Duration, wasShed: Bool = false, of client: Int? = nil, tenant: String? = nil,
        at uptime: Duration
    ) {
        state.withLock { state in
            if let client {
                let own = (state.clients[client] ?? 1) - 1
                state.clients[client] = own > 0 ? own : nil
            }
            let wasBusy = Double(state.running.total) * 2 >= state.limit
            state.running.end(tenant)
            if duration <= target, !wasShed {
                // A limit that is never reached says nothing about the server's capacity.
                if wasBusy { state.limit = min(bounds.upperBound, state.limit + 1 / state.limit) }
            } else if uptime - state.lastCut >= target {
                // All requests that ran with a late one are late for the same reason: that is one cut.
                state.lastCut = uptime
                state.limit = max(bounds.lowerBound, state.limit * 0.8)
            }
        }
    }
}

extension AdmissionLane {
    /// The part of the limit that the lane may fill.
    fileprivate var share: Double {
        switch self {
        case .renewal: 1
        case .start: 0.75
        case .stored: 0.5
        }
    }
}
