import LatchkeyCore

/// Where packagers' requests are worked on: a separate thread of lower priority than players' threads, and a limit of requests.
///
/// A packager waits and comes again; a player stops. Packagers' load must not slow down licenses, and no tenant's packagers take the places
/// of another's.
///
/// Source: `Documentation/LicenseServer.md` §1 rule 2.
package final class PackagerPool: Sendable {
    /// The thread.
    package let threads = WorkerPool(threads: 1, standing: .last)
    private let most: Int
    private let open = Locked(TenantShares())

    /// - Parameter most: how many requests are worked on, or wait, at the same time. Defaults to 256.
    package init(most: Int = 256) { self.most = max(1, most) }

    /// A request comes.
    /// - Parameter tenant: its tenant; `nil` for none, which has one share.
    /// - Returns: whether it may wait for its turn. Then `end` has to follow.
    package func begin(of tenant: String? = nil) -> Bool {
        open.withLock { $0.begin(tenant, within: most) }
    }

    /// A request has ended.
    /// - Parameter tenant: as at its begin.
    package func end(of tenant: String? = nil) { open.withLock { $0.end(tenant) } }
}
