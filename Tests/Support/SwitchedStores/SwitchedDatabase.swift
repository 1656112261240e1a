package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem
package import LatchkeyVault

/// A database for keys and audit that a test can take down. The sessions are in a separate engine.
package final class SwitchedDatabase: KeyStore, AuditStore {
    /// Its contents, available or not.
    package let inner = MemorySealedKeyStore()
    /// Sessions, which are always available.
    package let sessions = SwitchedRecordStore()
    /// The redirections of a cluster's nodes.
    package let redirections = Locked<[ClusterRedirection: UInt64]>([:])
    /// How often a server probed it.
    package let questions = Locked(0)
    private let entries = Locked(MemoryAuditStore())
    private let isDown = Locked(false)
    private let hasDamagedEntries = Locked(false)
    private let refusesKeys = Locked(false)
    private let refusesEntries = Locked(false)
    private let hold = Locked<Promise<Void, Never>?>(nil)

    package let engine = "switched"

    package init() {}

    /// Takes it down, or brings it back.
    package func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    /// Has new keys fail, and nothing else.
    package func failAdditions(_ value: Bool) { refusesKeys.withLock { $0 = value } }

    /// Puts the audit back to an older state, as a restored backup does.
    /// - Parameter last: the number of its last entry.
    package func putBack(to last: UInt64) async throws {
        let older = MemoryAuditStore()
        for entry in try await entries.withLock({ $0 }).entries(from: 1, limit: 1_000) where entry.sequence <= last {
            _ = try await older.append(entry)
        }
        entries.withLock { $0 = older }
    }

    /// Makes the audit's entries fail, and nothing else.
    package func failEntries(_ value: Bool) { refusesEntries.withLock { $0 = value } }

    /// Makes the audit's entries unreadable.
    package func damageEntries() { hasDamagedEntries.withLock { $0 = true } }

    /// Makes the next look for rows of older data keys wait until its task is cancelled.
    /// - Returns: resolved when that look waits.
    package func holdRows() -> Promise<Void, Never> {
        let held = Promise<Void, Never>()
        hold.withLock { $0 = held }
        return held
    }

    /// - Throws: while it is down.
    package func ask() throws(StoreError) {
        if isDown.withLock({ $0 }) { throw StoreError(.unavailable, engine, reason: "The test took it away.") }
    }

    package func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        try ask()
        if refusesKeys.withLock({ $0 }) { throw StoreError(.unavailable, engine, reason: "The test takes no keys.") }
        return try await inner.add(rows)
    }

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        try ask()
        return try await inner.rows(kids, of: tenant)
    }

    package func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        try ask()
        return try await inner.page(of: tenant, search: search, after: cursor, limit: limit)
    }

    package func count(of tenant: String) async throws(StoreError) -> Int {
        try ask()
        return try await inner.count(of: tenant)
    }

    package func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        try ask()
        return try await inner.reseal(rows)
    }

    package func rows(of tenant: String, sealedBefore dataKey: UInt32, limit: Int) async throws(StoreError) -> [KeyRow]
    {
        try ask()
        let held = hold.withLock { held in
            defer { held = nil }
            return held
        }
        if let held {
            held.resolve(.success(()))
            _ = try? await Promise<Void, any Error>().valueOrCancel()
        }
        return try await inner.rows(of: tenant, sealedBefore: dataKey, limit: limit)
    }

    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.setDisabled(isDisabled, kid, of: tenant)
    }

    package func block(_ block: Block) async throws(StoreError) {
        try ask()
        try await inner.block(block)
    }

    package func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.unblock(subject)
    }

    package func blocks() async throws(StoreError) -> [Block] {
        try ask()
        return try await inner.blocks()
    }

    package func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        try ask()
        return try await inner.seeds(of: tenant)
    }

    package func add(seed: SealedKey) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.add(seed: seed)
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        try ask()
        return try await inner.dataKeys()
    }

    package func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.replace(held, by: row)
    }

    package func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.remove(held)
    }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try ask()
        return try await inner.fingerprint()
    }

    package func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.put(dataKey, replacing: wrapper)
    }

    package func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
        try ask()
        if refusesEntries.withLock({ $0 }) {
            throw StoreError(.unavailable, engine, reason: "The test takes no entry.")
        }
        return try await entries.withLock({ $0 }).append(entry)
    }

    package func last() async throws(StoreError) -> AuditEntry? {
        try ask()
        return try await entries.withLock({ $0 }).last()
    }

    package func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try ask()
        if hasDamagedEntries.withLock({ $0 }) { throw StoreError(.damaged, engine, reason: "An entry cannot be read.") }
        return try await entries.withLock({ $0 }).entries(from: sequence, limit: limit)
    }
}
