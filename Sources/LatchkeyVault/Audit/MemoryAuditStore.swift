import LatchkeyCore
package import LatchkeySystem

/// Keeps the audit in memory: for a node without an engine, and for tests. It ends with the process.
package final class MemoryAuditStore: AuditStore {
    package let engine = "memory"
    package let reach = EngineReach.memory
    private let limit: Int
    private let entries = Locked<[AuditEntry]>([])

    /// - Parameter limit: the most entries that it holds; beyond it, it throws. Defaults to 1,000,000.
    package init(limit: Int = 1_000_000) { self.limit = limit }

    package func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
        let isAdded: Bool? = entries.withLock { entries in
            guard entry.sequence == UInt64(entries.count) + 1 else { return false }
            guard entries.count < limit else { return nil }
            entries.append(entry)
            return true
        }
        guard let isAdded else {
            throw StoreError(.full, engine, reason: "The memory store has reached its limit of \(limit) audit entries.")
        }
        return isAdded
    }

    package func last() async throws(StoreError) -> AuditEntry? { entries.withLock { $0.last } }

    package func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        entries.withLock { entries in
            let first = Int(clamping: max(sequence, 1) - 1)
            return Array(entries.dropFirst(first).prefix(max(1, min(limit, 1_000))))
        }
    }
}
