package import LatchkeyCore
package import LatchkeySystem

/// A store of keys that may be away: it notes whether the store answers, and answers from the node's own copy meanwhile.
///
/// While the store is away nobody asks it but `probe()`, so that no license waits for it. What it said is kept in the copy.
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package final class GuardedKeyStore: KeyStore {
    package var engine: String { store.engine }
    /// Whether the store answers.
    package let health: EngineHealth
    /// What could not reach the store yet; `nil` without a copy.
    package let pending: PendingChanges?
    /// The node's own copy; `nil` without one.
    package let copy: (any NodeCopy)?
    private let store: any KeyStore
    private let question: (@Sendable () async throws(StoreError) -> Void)?
    private let expected: Locked<DatabaseFingerprint?>

    /// - Parameters:
    ///   - store: the store.
    ///   - health: notes whether it answers.
    ///   - copy: the node's own copy. Defaults to none.
    ///   - pending: what the copy holds for the store. Defaults to nothing.
    ///   - expected: the only database that is taken. Defaults to the first one that answers.
    ///   - question: asks the store something short, to see whether it answers. Defaults to its fingerprint alone.
    package init(
        _ store: any KeyStore, health: EngineHealth, copy: (any NodeCopy)? = nil, pending: PendingChanges? = nil,
        expected: DatabaseFingerprint? = nil, question: (@Sendable () async throws(StoreError) -> Void)? = nil
    ) {
        self.expected = Locked(expected)
        self.store = store
        self.health = health
        self.copy = copy
        self.pending = pending
        self.question = question
    }

    package var isAway: Bool { health.isAway }

    package func holdsBack(_ kid: KeyID, of tenant: String) -> Bool { pending?.holdsBack(kid, of: tenant) ?? false }

    /// Why the store is not asked now.
    package var absence: StoreError { health.absence(of: engine) }

    /// Asks the store whether it answers, and is the database that it was. Another one counts as away, so that nothing that is known is
    /// forgotten for it.
    package func probe() async {
        do throws(StoreError) {
            if let question { try await question() }
            try check(try await store.fingerprint())
            health.note()
        } catch {
            health.note(error)
        }
    }

    private func check(_ found: DatabaseFingerprint?) throws(StoreError) {
        let expected = expected.withLock { expected in
            if expected == nil { expected = found }
            return expected
        }
        guard let expected else { return }
        guard found == expected else { throw .anotherDatabase(found, than: expected, engine) }
        copy?.keep(expected)
    }

    // MARK: - What the copy can answer

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        do throws(StoreError) {
            let rows = try await asking { store throws(StoreError) in try await store.rows(kids, of: tenant) }
            copy?.keep(rows)
            let missing = Set(kids).subtracting(rows.map(\.kid))
            if !missing.isEmpty { copy?.forget(Array(missing), of: tenant) }
            return rows.map(heldBack)
        } catch {
            // Nothing is known of a key that is not in the copy: neither its row, nor that there is none.
            guard health.isAway, let copy, let rows = try? await copy.rows(kids, of: tenant),
                Set(rows.map(\.kid)).isSuperset(of: kids)
            else { throw error }
            return rows.map { row in
                var row = heldBack(row)
                row.isCopied = true
                return row
            }
        }
    }

    package func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        do throws(StoreError) {
            let seeds = try await asking { store throws(StoreError) in try await store.seeds(of: tenant) }
            copy?.keep(seeds, of: tenant)
            return seeds
        } catch {
            guard health.isAway, let copy, let seeds = try? await copy.seeds(of: tenant), !seeds.isEmpty else {
                throw error
            }
            return seeds
        }
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        do throws(StoreError) {
            let keys = try await asking { store throws(StoreError) in try await store.dataKeys() }
            copy?.keep(keys)
            return keys
        } catch {
            guard health.isAway, let copy, let keys = try? await copy.dataKeys(), !keys.isEmpty else { throw error }
            return keys
        }
    }

    // MARK: - What only the store can do

    package func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        let inForce = try await changing { store throws(StoreError) in try await store.add(rows) }
        copy?.keep(inForce)
        return inForce
    }

    package func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try await asking { store throws(StoreError) in
            try await store.page(of: tenant, search: search, after: cursor, limit: limit)
        }.map(heldBack)
    }

    package func count(of tenant: String) async throws(StoreError) -> Int {
        try await asking { store throws(StoreError) in try await store.count(of: tenant) }
    }

    package func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        try await changing { store throws(StoreError) in try await store.reseal(rows) }
    }

    package func rows(
        of tenant: String, sealedBefore dataKey: UInt32, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try await asking { store throws(StoreError) in
            try await store.rows(of: tenant, sealedBefore: dataKey, limit: limit)
        }
    }

    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        let isThere = try await changing { store throws(StoreError) in
            try await store.setDisabled(isDisabled, kid, of: tenant)
        }
        // The copy learns it at once; if the store does not answer any more, by what is held back or read later.
        if isThere, copy != nil { _ = try? await rows([kid], of: tenant) }
        return isThere
    }

    package func add(seed: SealedKey) async throws(StoreError) -> Bool {
        try await changing { store throws(StoreError) in try await store.add(seed: seed) }
    }

    package func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try await changing { store throws(StoreError) in try await store.replace(held, by: row) }
    }

    package func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        try await changing { store throws(StoreError) in try await store.remove(held) }
    }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try await asking { store throws(StoreError) in try await store.fingerprint() }
    }

    package func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try await changing { store throws(StoreError) in try await store.put(dataKey, replacing: wrapper) }
    }

    private func asking<Answer>(
        _ body: (any KeyStore) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        guard !health.isAway else { throw absence }
        do throws(StoreError) {
            let answer = try await body(store)
            health.note()
            return answer
        } catch {
            health.note(error)
            throw error
        }
    }

    /// Asks for a change. One that fails says nothing of what can be read: a disk that takes nothing more still gives what it has.
    private func changing<Answer>(
        _ body: (any KeyStore) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        guard !health.isAway else { throw absence }
        do throws(StoreError) {
            let answer = try await body(store)
            health.note()
            return answer
        } catch {
            if error.kind == .unavailable || error.kind == .misconfigured { await probe() }
            throw error
        }
    }

    /// A row as it counts here: disabled, too, where the store does not know that yet.
    private func heldBack(_ row: KeyRow) -> KeyRow {
        guard holdsBack(row.kid, of: row.sealed.tenant) else { return row }
        var row = row
        row.isDisabled = true
        return row
    }
}

extension StoreError {
    /// The store has changed places with another one.
    package static func anotherDatabase(
        _ found: DatabaseFingerprint?, than expected: DatabaseFingerprint, _ engine: String
    ) -> Self {
        Self(
            .misconfigured, engine,
            reason:
                "This is another database: \(found.map { "it is \($0)" } ?? "it has no fingerprint"), and \(expected) is expected.",
            remedy:
                "Name the right database in stores.keys, or restore it. If this one is meant, remove the node's copy, and state its fingerprint in stores.fingerprint."
        )
    }
}
