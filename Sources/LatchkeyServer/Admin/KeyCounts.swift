import LatchkeyCore
import LatchkeySystem
import LatchkeyVault

/// The number of keys of each tenant, counted again on request once a minute has passed: a count reads all rows of an index.
final class KeyCounts: Sendable {
    private struct Count {
        let number: Int
        let ends: Duration
    }

    private let timekeeper: any Timekeeper
    private let counts = Locked<[String: Count]>([:])
    private static let life = Duration.seconds(60)

    init(timekeeper: any Timekeeper = SystemTimekeeper()) { self.timekeeper = timekeeper }

    /// The number of a tenant's keys, at most a minute old.
    /// - Throws: `StoreError`.
    func count(of tenant: String, in store: any KeyStore) async throws(StoreError) -> Int {
        let now = timekeeper.uptime
        if let known = counts.withLock({ $0[tenant] }), known.ends > now { return known.number }
        let number = try await store.count(of: tenant)
        counts.withLock { $0[tenant] = Count(number: number, ends: now + Self.life) }
        return number
    }

    /// Counts a tenant's keys again when they are asked for.
    func forget(_ tenant: String) { counts.withLock { $0[tenant] = nil } }
}
