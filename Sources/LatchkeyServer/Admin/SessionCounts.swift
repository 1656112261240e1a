import LatchkeyCore
import LatchkeyLicensing
import LatchkeyVault

/// The slots in use of each tenant, counted again on request once ten seconds have passed.
final class SessionCounts: Sendable {
    private struct State {
        var counts: [String: RecordCount] = [:]
        var next: Duration?
    }

    private let accounts: AccountSessions
    private let metrics: ServerMetrics
    private let timekeeper: any Timekeeper
    private let state = Locked(State())
    /// About the most accounts that are read per tenant, among accounts written without a count; with more, the count is a lower bound, and
    /// says so.
    private let most: Int

    init(
        _ accounts: AccountSessions, _ metrics: ServerMetrics, most: Int = 20_000,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.accounts = accounts
        self.most = most
        self.metrics = metrics
        self.timekeeper = timekeeper
    }

    /// The counts of some tenants; the metric `latchkey_sessions` has the same. Waits for the first count only, so that a store that does
    /// not answer causes no long delay.
    func counts(of tenants: [String]) async -> [String: RecordCount] {
        let isFirst = state.withLock { $0.next == nil }
        let counting = refresh(tenants)
        if isFirst { await counting?.value }
        return state.withLock { $0.counts }
    }

    /// Counts in the background, if it is time.
    /// - Returns: the counting task, which need not be awaited.
    @discardableResult
    func refresh(_ tenants: [String]) -> Task<Void, Never>? {
        let now = timekeeper.uptime
        let isDue = state.withLock { state in
            guard state.next.map({ $0 <= now }) ?? true else { return false }
            state.next = now + .seconds(10)
            return true
        }
        guard isDue else { return nil }
        return startTask { [self] in _ = await count(tenants) }
    }

    /// Counts now; the metric and later readers get it too.
    /// - Returns: the counts of the tenants that could be counted.
    func count(_ tenants: [String]) async -> [String: RecordCount] {
        var counts: [String: RecordCount] = [:]
        for tenant in tenants {
            // A failed count is not shown; the store's health has the reason.
            counts[tenant] = try? await accounts.sessionCount(of: tenant, most: most)
        }
        metrics.sessions.replaceAll(counts.map { ([$0.key], Double($0.value.value)) })
        metrics.sessionsAreAtLeast.replaceAll(counts.map { ([$0.key], $0.value.isWhole ? 0 : 1) })
        state.withLock { [counts] in $0.counts = counts }
        return counts
    }
}
