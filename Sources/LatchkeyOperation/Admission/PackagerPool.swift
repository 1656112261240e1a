import LatchkeyCore

/// Where packagers' requests are worked on: a thread of their own, to which players' threads go before, and so many at once.
///
/// A packager waits and comes again; a player stops. Load of packagers must not move what a license takes.
///
/// Source: `Documentation/LicenseServer.md` §1 rule 2.
package final class PackagerPool: Sendable {
    /// The thread.
    package let threads = WorkerPool(threads: 1, standing: .last)
    private let most: Int
    private let open = Locked(0)

    /// - Parameter most: how many requests are worked on, or wait, at once. Defaults to 256.
    package init(most: Int = 256) { self.most = max(1, most) }

    /// A request comes.
    /// - Returns: whether it may wait for its turn. Then `end` has to follow.
    package func begin() -> Bool {
        open.withLock { open in
            guard open < most else { return false }
            open += 1
            return true
        }
    }

    /// A request has ended.
    package func end() { open.withLock { $0 = max(0, $0 - 1) } }
}
