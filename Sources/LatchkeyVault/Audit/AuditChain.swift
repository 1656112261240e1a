package import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeySystem

/// Adds to the audit, and checks it.
///
/// Several nodes may add to one store: a node whose number is taken reads the last entry and tries the next number. A node adds
/// one entry at a time, so that it never competes with itself.
///
/// Source: `Documentation/LicenseServer.md` §8.5.
package final class AuditChain: Sendable {
    private struct State {
        var tail: Task<Result<AuditEntry, StoreError>, Never>?
        /// The last entry that this node knows; the store may have more.
        var last: AuditEntry?
    }

    private let store: any AuditStore
    private let guarded: EngineGuard
    private let pending: PendingChanges?
    private let timekeeper: any Timekeeper
    private let state = Locked(State())
    /// How often other nodes may take an entry's number before it is given up.
    private static let attempts = 100

    /// - Parameters:
    ///   - store: the store of the entries.
    ///   - guarded: guards the store, so that callers do not wait for an unavailable one. Defaults to a guard for this chain only.
    ///   - pending: keeps entries that may wait while the store is unavailable. Defaults to nothing: no entry may wait.
    ///   - timekeeper: the clock for the entries' times.
    package init(
        _ store: any AuditStore, guarded: EngineGuard = EngineGuard(EngineHealth("auditStore")),
        pending: PendingChanges? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.store = store
        self.guarded = guarded
        self.pending = pending
        self.timekeeper = timekeeper
    }

    /// Adds an event after all others, even if the caller's task is cancelled meanwhile.
    /// - Returns: its entry; `nil` for one that waits on this node's disk, because the store is unavailable and the event may wait.
    /// - Throws: `StoreError`.
    @discardableResult
    package func append(_ event: AuditEvent) async throws(StoreError) -> AuditEntry? {
        let text = event.canonicalText(at: timekeeper.date)
        do throws(StoreError) { return try await append(text: text) } catch {
            guard event.action.mayWait, error.isOutage, let pending else { throw error }
            try await pending.add(.audit(text: text))
            return nil
        }
    }

    /// Adds an event that waited, in its canonical form, after all others.
    /// - Throws: `StoreError`.
    @discardableResult
    package func append(text: String) async throws(StoreError) -> AuditEntry {
        let mine = state.withLock { state in
            let mine = Task { [before = state.tail] in
                _ = await before?.value
                return await self.added(text)
            }
            state.tail = mine
            return mine
        }
        return try await mine.value.get()
    }

    /// The last entry that this node has seen, to compare a later check with.
    package var lastSeen: AuditEntry? { state.withLock { $0.last } }

    private func added(_ text: String) async -> Result<AuditEntry, StoreError> {
        do throws(StoreError) {
            let added = try await guarded.call(EngineWork(.write)) { try await self.appended(text) }
            guard let added else {
                let reason = "Other writers took the entry's number \(Self.attempts) times."
                return .failure(StoreError(.unavailable, store.engine, reason: reason))
            }
            state.withLock { $0.last = added }
            return .success(added)
        } catch {
            // Earlier entries may be gone if the engine was restored from a backup.
            state.withLock { $0.last = nil }
            return .failure(error)
        }
    }

    /// - Returns: `nil` if other nodes took the entry's number each time.
    private func appended(_ text: String) async throws(StoreError) -> AuditEntry? {
        var last = lastSeen
        if last == nil { last = try await store.last() }
        for _ in 0..<Self.attempts {
            let entry = try entry(text, after: last)
            if try await store.append(entry) { return entry }
            last = try await store.last()
        }
        return nil
    }

    private func entry(_ text: String, after last: AuditEntry?) throws(StoreError) -> AuditEntry {
        do {
            return try AuditEntry(text, after: last)
        } catch {
            throw StoreError(.unavailable, store.engine, reason: "libcrypto cannot make a SHA-256.")
        }
    }
}
