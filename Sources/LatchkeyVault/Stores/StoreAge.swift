package import LatchkeyCore
package import LatchkeySystem

/// Whether the stores are older than what this node has seen of them, as after a restored backup or at a former primary.
///
/// Of the keys' database the audit shows it: it only grows, and each change of a key is in it before it is done. A database without the
/// newest entry that this node has seen is behind. Then it lifts no takedown that is known here, until it has the entry again or an operator
/// accepts it as it is. In a store without the audit, this node raises a mark (`MarkedStore`).
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package final class StoreAge: Sendable {
    private struct State {
        /// The newest entry, if no copy keeps it.
        var seen: AuditAnchor?
        /// The newest marks by their stores' names, if no copy keeps them.
        var marks: [String: StoreMark] = [:]
        /// Why stores are behind, by their names.
        var setbacks: [String: StoreError] = [:]
        /// The disabled keys that the store was last asked about.
        var takedowns = RecentValues<HeldKey, Bool>(limit: 200_000)
    }

    /// The name of the keys' database.
    private static let database = "database"

    private let audit: any AuditStore
    private let marked: [MarkedStore]
    /// The name of this node's first marks.
    private let node = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    /// Keeps the newest entry across restarts. Another process may accept a database there.
    private let copy: (any NodeCopy)?
    private let state = Locked(State())
    private let listener = Locked<@Sendable (String, StoreError?) -> Void>({ _, _ in })

    private init(_ audit: any AuditStore, _ copy: (any NodeCopy)?, _ marked: [MarkedStore]) {
        (self.audit, self.copy, self.marked) = (audit, copy, marked)
    }

    /// Begins with the knowledge of a node's copy.
    /// - Parameters:
    ///   - audit: the audit. An audit in memory begins anew with each process, and no copy keeps its entries.
    ///   - copy: the node's own copy; without one, the seen entry is lost when the process ends.
    ///   - stores: the stores without the audit. Defaults to none.
    /// - Throws: `StoreError` of the copy.
    package static func open(
        _ audit: any AuditStore, copy: (any NodeCopy)?, marking stores: [MarkedStore] = []
    ) async throws(StoreError) -> StoreAge {
        let age = StoreAge(audit, audit.reach == .memory ? nil : copy, stores)
        let takedowns = try await copy?.takedowns() ?? []
        age.state.withLock { state in for key in takedowns { state.takedowns.set(true, for: key) } }
        return age
    }

    /// Why the keys' database is behind, as of the last look; `nil` if it is not.
    package var setback: StoreError? { state.withLock { ofDatabase($0) } }

    private func ofDatabase(_ state: State) -> StoreError? {
        let names = [Self.database] + marked.filter(\.hasKeys).map(\.name)
        return names.lazy.compactMap { state.setbacks[$0] }.first
    }

    /// Why stores are behind, as of the last looks, in the order of their names.
    package var setbacks: [(store: String, error: StoreError)] {
        state.withLock { $0.setbacks }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Whether a key stays disabled here, whatever the store says.
    package func holds(_ key: HeldKey) -> Bool {
        state.withLock { ofDatabase($0) != nil && $0.takedowns.peek(key) != nil }
    }

    /// Calls a closure when a store is behind, now or later, and when it has caught up.
    /// - Parameter heard: gets the store's name. Called on any thread; must not wait.
    package func whenChanged(_ heard: @escaping @Sendable (String, StoreError?) -> Void) {
        listener.withLock { $0 = heard }
        for (store, error) in setbacks { heard(store, error) }
    }

    /// Checks whether the keys' database has the newest entry that this node has seen; if so, remembers the database's own newest one.
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
        note(setback, of: Self.database)
        for store in marked where store.hasKeys { try await look(at: store) }
        return self.setback != nil
    }

    /// Checks whether the stores of sessions have the marks that this node has seen there, and raises them.
    /// - Returns: the error of a store that does not answer, of which nothing is known.
    @discardableResult
    package func lookAtSessions() async -> StoreError? {
        await withTaskGroup(of: StoreError?.self) { group in
            for store in marked where !store.hasKeys {
                group.addTask {
                    do throws(StoreError) { try await self.look(at: store) } catch { return error }
                    return nil
                }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }

    private func look(at store: MarkedStore) async throws(StoreError) {
        let name = store.name
        let mark = if let copy { try await copy.mark(of: name) } else { state.withLock { $0.marks[name] } }
        let setback = try await store.raise(mark, orBegin: node, accepting: .acceptance(isKept: copy != nil)) { found in
            state.withLock { $0.marks[name] = found }
            copy?.keep(found, of: name)
        }
        note(setback, of: name)
    }

    private func note(_ setback: StoreError?, of store: String) {
        let isNews = state.withLock { state in
            defer { state.setbacks[store] = setback }
            return (state.setbacks[store] == nil) != (setback == nil)
        }
        if isNews { listener.withLock { $0 }(store, setback) }
    }

    /// Accepts all stores as they are, from now on.
    /// - Throws: `StoreError`.
    package func accept() async throws(StoreError) {
        try await copy?.forgetSeen()
        state.withLock { ($0.seen, $0.marks) = (nil, [:]) }
        try await look()
        await lookAtSessions()
    }

    /// Compares the store's answers for some keys with the known takedowns, and looks where they differ: the entry of a new one is seen
    /// from then on, and a missing one may have come undone.
    /// - Returns: the keys that stay disabled, because the store is behind; `nil` if the store's answer counts.
    package func held(_ kids: [KeyID], of tenant: String, against rows: [KeyRow]) async -> Set<KeyID>? {
        let disabled = Set(rows.filter(\.isDisabled).map(\.kid))
        var (known, isBehind) = state.withLock { state in
            (Set(kids.filter { state.takedowns.peek(HeldKey(tenant, $0)) != nil }), ofDatabase(state) != nil)
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
                "Restore the database that has this entry. If this one is right, \(String.acceptance(isKept: isKept)).")
    }
}

extension String {
    /// How to accept a store as it is.
    /// - Parameter isKept: whether a node's copy keeps the knowledge of it. Defaults to yes.
    package static func acceptance(isKept: Bool = true) -> String {
        isKept ? "run latchkey-server copy accept on each node" : "restart this node"
    }
}
