import LatchkeyCore
import LatchkeyServer

/// How many slots each tenant has in use, counted again when somebody looks and ten seconds have passed.
final class SessionCounts: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var next: Duration?
    }

    private let accounts: AccountBook
    private let metrics: ServerMetrics
    private let timekeeper: any Timekeeper
    private let state = Locked(State())
    /// About the most accounts that are looked at per tenant.
    private static let most = 20_000

    init(_ accounts: AccountBook, _ metrics: ServerMetrics, timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.accounts = accounts
        self.metrics = metrics
        self.timekeeper = timekeeper
    }

    /// The counts of some tenants; the metric `latchkey_sessions` has the same. Waits for the first count only, so that a store that does
    /// not answer holds up nobody for long.
    func counts(of tenants: [String]) async -> [String: Int] {
        let isFirst = state.withLock { $0.next == nil }
        let counting = refresh(tenants)
        if isFirst { await counting?.value }
        return state.withLock { $0.counts }
    }

    /// Counts in the background, if it is time.
    /// - Returns: the task that counts; nobody has to wait for it.
    @discardableResult
    func refresh(_ tenants: [String]) -> Task<Void, Never>? {
        let now = timekeeper.uptime
        let isDue = state.withLock { state in
            guard state.next.map({ $0 <= now }) ?? true else { return false }
            state.next = now + .seconds(10)
            return true
        }
        guard isDue else { return nil }
        return startTask { [self] in
            for tenant in tenants {
                guard let count = try? await accounts.sessionCount(of: tenant, most: Self.most) else { continue }
                metrics.sessions[tenant].set(Double(count))
                state.withLock { $0.counts[tenant] = count }
            }
        }
    }
}
