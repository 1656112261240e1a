import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem

/// A node's changes that have not reached the stores: in force here immediately, delivered in order when the stores answer.
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package final class PendingChanges: Sendable {
    private struct State: Sendable {
        var changes: [PendingChange] = []
        var heldBack: Set<HeldKey> = []
        var isDelivering = false

        mutating func add(_ change: PendingChange) {
            changes.append(change)
            if let key = change.kind.heldKey { heldBack.insert(key) }
        }

        mutating func remove(_ change: PendingChange) {
            changes.removeAll { $0.id == change.id }
            heldBack = Set(changes.compactMap(\.kind.heldKey))
        }
    }

    private let copy: any NodeCopy
    private let state = Locked(State())

    private init(_ copy: any NodeCopy) { self.copy = copy }

    /// The changes that a node's copy holds.
    /// - Throws: `StoreError` of the copy.
    package static func open(_ copy: any NodeCopy) async throws(StoreError) -> PendingChanges {
        let pending = PendingChanges(copy)
        let changes = try await copy.changes()
        pending.state.withLock { state in for change in changes { state.add(change) } }
        return pending
    }

    /// How many wait.
    package var count: Int { state.withLock { $0.changes.count } }

    /// How many of these are entries of the audit for actions that are already done everywhere.
    package var entryCount: Int {
        state.withLock { state in state.changes.count { if case .audit = $0.kind { true } else { false } } }
    }

    /// Adds a change, which is in force on this node when this returns, and is on the disk.
    /// - Throws: `StoreError` of the copy; then it is not in force.
    package func add(_ kind: PendingChange.Kind) async throws(StoreError) {
        let change = PendingChange(kind)
        try await copy.add(change)
        state.withLock { $0.add(change) }
    }

    /// Whether a key was disabled here, and the store does not know it yet.
    package func holdsBack(_ kid: KeyID, of tenant: String) -> Bool {
        state.withLock { $0.heldBack.contains(HeldKey(tenant, kid)) }
    }

    /// The blocks that were set here, unknown to the store so far.
    var blocks: [Block] {
        state.withLock { state in
            state.changes.compactMap { if case .blocked(let block) = $0.kind { block } else { nil } }
        }
    }

    /// The sessions of an account that were stopped here, unknown to the store so far.
    package func stops(of account: String, _ tenant: String) -> [StoppedSession] {
        state.withLock { state in
            guard !state.changes.isEmpty else { return [] }
            return state.changes.compactMap { change in
                guard case .stopped(tenant, account, let session, let who, let date) = change.kind else { return nil }
                return StoppedSession(session: session, by: who, at: date)
            }
        }
    }

    /// Delivers the changes in order. Ends at the first one that is not taken; a later call resumes there.
    /// - Parameter deliver: delivers one; throws if its store does not take it now.
    /// - Returns: whether all were delivered. Only one call works at a time; a concurrent one returns false.
    @discardableResult
    package func deliver(_ deliver: (PendingChange.Kind) async throws -> Void) async -> Bool {
        let mayBegin = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard mayBegin else { return false }
        defer { state.withLock { $0.isDelivering = false } }
        while let change = state.withLock({ $0.changes.first }) {
            do {
                try await deliver(change.kind)
                try await copy.remove(change)
            } catch { return false }
            state.withLock { $0.remove(change) }
        }
        return true
    }
}

/// A key that is disabled on this node.
package struct HeldKey: Sendable, Hashable {
    let tenant: String
    let kid: KeyID

    package init(_ tenant: String, _ kid: KeyID) { (self.tenant, self.kid) = (tenant, kid) }
}

extension PendingChange.Kind {
    /// The key that it disables.
    fileprivate var heldKey: HeldKey? {
        guard case .disabled(let tenant, let name) = self else { return nil }
        return KeyID(name).map { HeldKey(tenant, $0) }
    }
}
