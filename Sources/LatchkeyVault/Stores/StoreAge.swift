package import LatchkeyCore
package import LatchkeySystem

/// Whether the database is older than what this node has seen of it, as after a restored backup or at a former primary.
///
/// The audit shows it: it only grows, and each change of a key is in it before it is done. A database without the newest entry that this
/// node has seen is behind. Then it lifts no takedown that is known here, until it has the entry again or an operator accepts it as it is.
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package final class StoreAge: Sendable {
    private struct State {
        /// The newest entry, if no copy keeps it.
        var seen: AuditAnchor?
        /// Why the database is behind; `nil` if it is not.
        var setback: StoreError?
        /// The disabled keys that the store was last asked about.
        var takedowns = RecentValues<HeldKey, Bool>(limit: 200_000)
    }

    private let audit: any AuditStore
    /// Keeps the newest entry across restarts. Another process may accept a database there.
    private let copy: (any NodeCopy)?
    private let state = Locked(State())
    private let listener = Locked<@Sendable (StoreError?) -> Void>({ _ in })

    private init(_ audit: any AuditStore, _ copy: (any NodeCopy)?) { (self.audit, self.copy) = (audit, copy) }

    /// Begins with the knowledge of a node's copy.
    /// - Parameters:
    ///   - audit: the audit. An audit in memory begins anew with each process, and no copy keeps its entries.
    ///   - copy: the node's own copy; without one, the seen entry is lost when the process ends.
    /// - Throws: `StoreError` of the copy.
    package static func open(_ audit: any AuditStore, copy: (any NodeCopy)?) async throws(StoreError) -> StoreAge {
        let age = StoreAge(audit, audit.reach == .memory ? nil : copy)
        let takedowns = try await copy?.takedowns() ?? []
        age.state.withLock { state in for key in takedowns { state.takedowns.set(true, for: key) } }
        return age
    }

    /// Why the database is behind, as of the last look; `nil` if it is not.
    package var setback: StoreError? { state.withLock { $0.setback } }

    /// Whether a key stays disabled here, whatever the store says.
    package func holds(_ key: HeldKey) -> Bool {
        state.withLock { $0.setback != nil && $0.takedowns.peek(key) != nil }
    }

    /// Calls a closure when the database is behind, now or later, and when it has caught up.
    /// - Parameter heard: called on any thread; must not wait.
    package func whenChanged(_ heard: @escaping @Sendable (StoreError?) -> Void) {
        listener.withLock { $0 = heard }
        if let setback { heard(setback) }
    }

    /// Checks whether the database has the newest entry that this node has seen; if so, remembers the database's own newest one.
    /// - Returns: whether it is behind.
    /// - Throws: `StoreError`; then nothing is known.
    @discardableResult
    package func look() async throws(StoreError) -> Bool {
        // Read before the database is asked: entries that are added meanwhile are not a setback.
        let seen = if let copy { try await copy.seen() } else { state.withLock { $0.seen } }
        let last = try await audit.last()
        let setback = try await seen.setback(of: audit, ending: last, isKept: copy != nil)
        let found = AuditAnchor(last)
        if setback == nil, found.sequence > seen?.sequence ?? 0 {
            state.withLock { $0.seen = found }
            copy?.keep(found)
        }
        let isNews = state.withLock { state in
            defer { state.setback = setback }
            return (state.setback == nil) != (setback == nil)
        }
        if isNews { listener.withLock { $0 }(setback) }
        return setback != nil
    }

    /// Accepts the database as it is, from now on.
    /// - Throws: `StoreError`.
    package func accept() async throws(StoreError) {
        try await copy?.forgetSeen()
        state.withLock { $0.seen = nil }
        try await look()
    }

    /// Compares the store's answers for some keys with the known takedowns, and looks where they differ: the entry of a new one is seen
    /// from then on, and a missing one may have come undone.
    /// - Returns: the keys that stay disabled, because the store is behind; `nil` if the store's answer counts.
    package func held(_ kids: [KeyID], of tenant: String, against rows: [KeyRow]) async -> Set<KeyID>? {
        let disabled = Set(rows.filter(\.isDisabled).map(\.kid))
        var (known, isBehind) = state.withLock { state in
            (Set(kids.filter { state.takedowns.peek(HeldKey(tenant, $0)) != nil }), state.setback != nil)
        }
        if disabled != known {
            // An audit that does not answer lifts no takedown.
            isBehind = (try? await look()) ?? (isBehind || !known.isSubset(of: disabled))
        }
        state.withLock { state in
            for kid in disabled { state.takedowns.set(true, for: HeldKey(tenant, kid)) }
            guard !isBehind else { return }
            for kid in known.subtracting(disabled) { state.takedowns.remove(HeldKey(tenant, kid)) }
        }
        return isBehind ? known : nil
    }
}

extension AuditAnchor? {
    /// Why an audit is behind its last seen entry; `nil` if it has the entry.
    /// - Parameters:
    ///   - last: the audit's last entry.
    ///   - isKept: whether the entry is in a node's copy. Defaults to yes.
    /// - Throws: `StoreError` of the audit.
    package func setback(
        of audit: any AuditStore, ending last: AuditEntry?, isKept: Bool = true
    ) async throws(StoreError) -> StoreError? {
        guard let seen = self else { return nil }
        let end = last?.sequence ?? 0
        let entry = end > seen.sequence ? try await audit.entries(from: seen.sequence, limit: 1).first : last
        guard AuditAnchor(entry) != seen else { return nil }
        let difference =
            end < seen.sequence
            ? "ends at entry \(end), but this node has seen entry \(seen.sequence)"
            : "has a different entry \(seen.sequence) than the one this node has seen"
        return StoreError(
            .misconfigured, audit.engine,
            reason:
                "The database is older than this node's last view of it: its audit \(difference). Keys that are disabled on this node stay disabled.",
            remedy:
                "Restore the database that has this entry. If this one is right, \(isKept ? "run latchkey-server copy accept on each node" : "restart this node")."
        )
    }
}
