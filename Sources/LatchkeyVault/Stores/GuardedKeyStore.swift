package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem

/// A store of keys whose calls `EngineGuard` guards. While the store is unavailable, the node's own copy answers, so that no license waits
/// for it. Its answers are kept in the copy.
///
/// Source: `Documentation/Decisions/0011-only-stored-keys.md`.
package final class GuardedKeyStore: KeyStore {
    package var engine: String { store.engine }
    package var reach: EngineReach { store.reach }
    /// How the store does its work.
    package var health: EngineHealth { guarded.health }
    /// The changes that have not reached the store yet; `nil` without a copy.
    package let pending: PendingChanges?
    /// The node's own copy; `nil` without one.
    package let copy: (any NodeCopy)?
    /// Whether the store is older than this node knows it; `nil` if this is not checked.
    package let age: StoreAge?
    package let guarded: EngineGuard
    /// The blocks in force on this node.
    package let blockList: BlockList
    private let store: any KeyStore

    /// - Parameters:
    ///   - store: the store.
    ///   - health: notes how it does its work.
    ///   - copy: the node's own copy. Defaults to none.
    ///   - pending: the changes that the copy holds for the store. Defaults to nothing.
    ///   - age: whether the store is older than this node knows it. Defaults to no check.
    ///   - expected: the only database that is accepted. Defaults to the first one that answers.
    ///   - probed: the kinds of work that a probe tries. Defaults to reads and writes.
    ///   - question: does a kind of work in a form that changes nothing, to test the store. Defaults to its fingerprint alone.
    package init(
        _ store: any KeyStore, health: EngineHealth, copy: (any NodeCopy)? = nil, pending: PendingChanges? = nil,
        age: StoreAge? = nil, expected: DatabaseFingerprint? = nil,
        probing probed: [EngineOperation] = [.read, .write],
        question: @escaping EngineQuestion = { _ in }
    ) {
        (self.store, self.copy, self.pending, self.age) = (store, copy, pending, age)
        blockList = BlockList(copy)
        let known = Locked(expected)
        // Another database counts as unavailable, so that no known key is forgotten because of it.
        let probe: @Sendable (EngineWork) async throws -> Void = { work in
            try await question(work.operation)
            guard work.operation != .listen else { return }
            let found = try await store.fingerprint()
            let expected = known.withLock { expected in
                if expected == nil { expected = found }
                return expected
            }
            if let expected {
                guard found == expected else { throw StoreError.anotherDatabase(found, than: expected, store.engine) }
                copy?.keep(expected)
            }
            // If the audit does not answer, its own health reports it.
            _ = try? await age?.look()
        }
        guarded = EngineGuard(health, probing: probed, question: probe)
    }

    package var isAway: Bool { health.isAway(for: .read) }
    /// Whether changes can reach the store.
    package var takesChanges: Bool { !isAway && !health.isAway(for: .write) }

    package func holdsBack(_ kid: KeyID, of tenant: String) -> Bool {
        pending?.holdsBack(kid, of: tenant) ?? false || age?.holds(HeldKey(tenant, kid)) ?? false
    }

    /// Why the store is not asked now.
    package var absence: StoreError { health.absence(for: isAway ? .read : .write) }

    /// Probes the store.
    package func probe() async { await guarded.probe() }

    // MARK: - Questions that the copy can answer

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        do throws(StoreError) {
            let rows = try await asking { store throws(StoreError) in try await store.rows(kids, of: tenant) }
            return await kept(rows, of: kids, tenant).map(heldBack)
        } catch {
            // Nothing is known about a key that is not in the copy: neither its row, nor that it is missing.
            guard isAway, let copy, let rows = try? await copy.rows(kids, of: tenant),
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
            if age?.setback == nil { copy?.keep(seeds, of: tenant) }
            return seeds
        } catch {
            guard isAway, let copy, let seeds = try? await copy.seeds(of: tenant), !seeds.isEmpty else {
                throw error
            }
            return seeds
        }
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        do throws(StoreError) {
            let keys = try await asking { store throws(StoreError) in try await store.dataKeys() }
            if age?.setback == nil { copy?.keep(keys) }
            return keys
        } catch {
            guard isAway, let copy, let keys = try? await copy.dataKeys(), !keys.isEmpty else { throw error }
            return keys
        }
    }

    // MARK: - Blocks

    /// Begins with the blocks of the copy, and reads those of the store, if it answers.
    /// - Throws: `StoreError` if neither has them.
    package func startBlocks() async throws(StoreError) {
        if let copy { blockList.start(try await copy.blocks() + (pending?.blocks ?? [])) }
        do throws(StoreError) { _ = try await blocks() } catch {
            await probe()
            guard copy != nil, isAway else { throw error }
        }
    }

    /// Reads the blocks, which are in force from then on. A store that is behind lifts none.
    /// - Throws: `StoreError`; then those known so far stay.
    @discardableResult
    package func blocks() async throws(StoreError) -> [Block] {
        while true {
            let (known, stamp) = blockList.snapshot
            var found = try await asking(to: .list) { store throws(StoreError) in try await store.blocks() }
            let missing = Set(known.map(\.subject)).subtracting(found.map(\.subject))
            if !missing.isEmpty, let age, (try? await age.look()) ?? true {
                found += known.filter { missing.contains($0.subject) }
            }
            // Another change meanwhile: the answer may be older.
            if blockList.replace(found + (pending?.blocks ?? []), readAt: stamp) { return found }
        }
    }

    package func block(_ block: Block) async throws(StoreError) {
        try await asking(to: .write) { store throws(StoreError) in try await store.block(block) }
        blockList.add(block)
    }

    /// Sets a block. While the store is unavailable, it is in force on this node immediately, if that has its own copy; the store gets
    /// it later.
    /// - Returns: whether the store has it.
    /// - Throws: `StoreError`.
    package func blockEvenInOutage(_ block: Block) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            try await self.block(block)
            return true
        } catch {
            guard let pending, error.isOutage else { throw error }
            try await pending.add(.blocked(block))
            blockList.add(block)
            return false
        }
    }

    package func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool {
        if let setback = age?.setback { throw setback }
        guard pending?.blocks.contains(where: { $0.subject == subject }) != true else {
            throw StoreError(
                .unavailable, engine, reason: "The block has not reached the store yet.", remedy: "Try again shortly.")
        }
        let isThere = try await asking(to: .write) { store throws(StoreError) in try await store.unblock(subject) }
        blockList.remove(subject)
        return isThere
    }

    // MARK: - What only the store can do

    package func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        let inForce = try await asking(to: .write) { store throws(StoreError) in try await store.add(rows) }
        guard let tenant = inForce.first?.sealed.tenant else { return inForce }
        return await kept(inForce, of: inForce.map(\.kid), tenant)
    }

    package func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try await asking(to: .list) { store throws(StoreError) in
            try await store.page(of: tenant, search: search, after: cursor, limit: limit)
        }.map(heldBack)
    }

    package func count(of tenant: String) async throws(StoreError) -> Int {
        try await asking(to: .list) { store throws(StoreError) in try await store.count(of: tenant) }
    }

    package func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        try await asking(to: .write) { store throws(StoreError) in try await store.reseal(rows) }
    }

    package func rows(
        of tenant: String, sealedBefore dataKey: UInt32, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try await asking(to: .list) { store throws(StoreError) in
            try await store.rows(of: tenant, sealedBefore: dataKey, limit: limit)
        }
    }

    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        if !isDisabled, let setback = age?.setback { throw setback }
        let isThere = try await asking(to: .write) { store throws(StoreError) in
            try await store.setDisabled(isDisabled, kid, of: tenant)
        }
        // The copy learns it immediately; if the store stops answering, from the held-back keys or a later read.
        if isThere, copy != nil { _ = try? await rows([kid], of: tenant) }
        return isThere
    }

    package func add(seed: SealedKey) async throws(StoreError) -> Bool {
        try await asking(to: .write) { store throws(StoreError) in try await store.add(seed: seed) }
    }

    package func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try await asking(to: .write) { store throws(StoreError) in try await store.replace(held, by: row) }
    }

    package func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        try await asking(to: .write) { store throws(StoreError) in try await store.remove(held) }
    }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try await asking { store throws(StoreError) in try await store.fingerprint() }
    }

    package func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try await asking(to: .write) { store throws(StoreError) in try await store.put(dataKey, replacing: wrapper) }
    }

    /// Asks the store. A failed change says nothing about reads: a full disk can still be read. A database whose reads
    /// fail may be another one, and gets nothing else.
    private func asking<Answer: Sendable>(
        to operation: EngineOperation = .read,
        _ body: @escaping @Sendable (any KeyStore) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        guard operation == .read || !isAway else { throw absence }
        return try await guarded.call(EngineWork(operation)) { [store] in try await body(store) }
    }

    /// Keeps the store's answer for some keys. A store that is behind lifts no takedown, and only takedowns are copied from it.
    private func kept(_ rows: [KeyRow], of kids: [KeyID], _ tenant: String) async -> [KeyRow] {
        guard let held = await age?.held(kids, of: tenant, against: rows) else {
            copy?.keep(rows)
            let missing = Set(kids).subtracting(rows.map(\.kid))
            if !missing.isEmpty { copy?.forget(Array(missing), of: tenant) }
            return rows
        }
        let rows = rows.map { row in
            var row = row
            row.isDisabled = row.isDisabled || held.contains(row.kid)
            return row
        }
        copy?.keep(rows.filter(\.isDisabled))
        return rows
    }

    /// The row as it counts here: also disabled if the store does not know that yet, or not any more.
    private func heldBack(_ row: KeyRow) -> KeyRow {
        guard holdsBack(row.kid, of: row.sealed.tenant) else { return row }
        var row = row
        row.isDisabled = true
        return row
    }
}

extension StoreError {
    /// The store was replaced by another one.
    package static func anotherDatabase(
        _ found: DatabaseFingerprint?, than expected: DatabaseFingerprint, _ engine: String
    ) -> Self {
        Self(
            .misconfigured, engine,
            reason:
                "This is another database: \(found.map { "it is \($0)" } ?? "it has no fingerprint"), but \(expected) is expected.",
            remedy:
                "Set stores.keys to the right database, or restore it. If this one is right, remove the node's copy, and set stores.fingerprint to its fingerprint."
        )
    }
}
