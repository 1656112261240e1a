package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeySystem

/// One tenant's content keys, for packagers and for licenses.
///
/// Licenses: a key comes from a row that the store holds or held, or from a derivation that the tenant's settings ask for by name. A key
/// that was read once is served from memory, where keys are in `Secret`, until something newer is read: an unresponsive store
/// changes nothing. A key that was not read yet is read once for all who ask at the same time.
///
/// Packagers: see `keys(for:)`.
///
///     let secrets = try await TenantSecrets.open("acme", in: store, with: keys)
///     let vault = TenantVault(secrets, store: store)
///     let key = try await vault.key(kid, content: content)
///
/// Source: `Documentation/LicenseServer.md` §1 and §8, `Documentation/Decisions/0011-only-stored-keys.md`.
package final class TenantVault: ContentKeySource {
    /// The origin of new keys.
    package enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The tenant's seed: every node makes the same key.
        case derived
        /// Randomness; the store decides which node's key counts.
        case stored
    }

    /// The treatment of licenses for keys without a row.
    package enum Unlisted: String, Sendable, Hashable, CaseIterable {
        /// It is refused: no packager got the key here.
        case refuse
        /// The key is derived if the request names a content: the packager derives, too, and stores nothing.
        case derive
    }

    /// How a vault works.
    package struct Settings: Sendable {
        /// The origin of new keys.
        package var origin = Origin.derived
        /// The treatment of licenses for keys without a row. `derive` goes with derived keys only.
        package var unlisted = Unlisted.refuse
        /// How many open keys are kept, and how many answers without a row.
        package var cacheLimit = 100_000
        /// The most rows of keys that the tenant may have; `nil` for no limit. Counted again each minute, so several nodes may exceed it by
        /// the keys that they make in that time.
        package var mostRows: Int?
        /// Called each time that the limit refuses keys. Must not wait.
        package var whenFull: @Sendable () -> Void = {}
        /// How long an answer without a row counts: a derived key, or a missing one.
        package var shortLife = Duration.seconds(5)

        package init() {}
    }

    typealias RowRead = Task<Result<(key: VaultKey, row: KeyRow)?, VaultError>, Never>

    struct State: Sendable {
        var known: RecentValues<KeyID, KnownKey>
        var brief: RecentValues<ShortLivedName, ShortLivedAnswer>
        /// Reads of the store under way. Each ends with the store's answer; they are never canceled.
        var reads: [KeyID: RowRead] = [:]
        /// The seeds of contents, where there are several.
        var versions: RecentValues<ContentName, SeedVersion>
        /// Rows of derived keys that the store has not taken yet.
        var pending: [KeyID: KeyRow] = [:]
        /// How many rows there are, until it is time to count again; kept only where there is a limit.
        var rowCount: (number: Int, end: Duration)?
        /// The only key of each content; if the store has none, for a limited time.
        var onlyKeys: RecentValues<ContentName, OnlyKey>
        /// Rises with each answer that is kept and each notice of a change, so that an older answer never replaces a newer one.
        var stamp: UInt64 = 0

        mutating func nextStamp() -> UInt64 {
            stamp &+= 1
            return stamp
        }
    }

    /// An open key, with the row that it was read from.
    struct KnownKey: Sendable {
        var key: VaultKey
        var row: KeyRow
        /// Whether the store reported a change that has not been read since.
        var isChanged = false
        var stamp: UInt64
    }

    struct ShortLivedName: Sendable, Hashable {
        let kid: KeyID
        let content: ContentName?
    }

    struct ShortLivedAnswer: Sendable {
        let answer: Result<VaultKey, VaultError>
        var end: Duration
    }

    struct OnlyKey: Sendable {
        let kid: KeyID
        /// The time until which it counts; `nil` for a key that the store has.
        var end: Duration?
    }

    /// The tenant's data keys and seeds.
    package let secrets: TenantSecrets
    package let store: any KeyStore
    let settings: Settings
    let timekeeper: any Timekeeper
    let generator: @Sendable () -> any RandomNumberGenerator
    let state: Locked<State>

    /// - Parameters:
    ///   - secrets: the tenant's data keys and seeds.
    ///   - store: the store of its rows. If it may be down or hang, it has to be a `GuardedKeyStore`.
    ///   - settings: how it works.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - generator: makes the source of stored keys and of nonces. Defaults to libcrypto.
    package init(
        _ secrets: TenantSecrets, store: any KeyStore, settings: Settings = Settings(),
        timekeeper: any Timekeeper = SystemTimekeeper(),
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { CryptographicGenerator() }
    ) {
        self.secrets = secrets
        self.store = store
        self.settings = settings
        self.timekeeper = timekeeper
        self.generator = generator
        state = Locked(
            State(
                known: RecentValues(limit: settings.cacheLimit), brief: RecentValues(limit: settings.cacheLimit),
                versions: RecentValues(limit: settings.cacheLimit), onlyKeys: RecentValues(limit: settings.cacheLimit)))
    }

    /// The key of a license.
    /// - Parameters:
    ///   - kid: the key's identifier.
    ///   - content: the content, if the key's URI has it. The content under which the store has the key does not matter.
    /// - Throws: `unknown` if the store has no row, unless the settings derive such keys; `disabled`; `store` if the store does not
    ///   answer and the row is not known; `protection`.
    package func key(_ kid: KeyID, content: ContentName? = nil) async throws(VaultError) -> VaultKey {
        if let key = try knownKey(kid, content: content) { return key }
        // A changed key: the store has just reported the change, and answers; if it does not, its previous answer counts.
        let former = state.withLock { $0.known.peek(kid)?.key }
        switch await row(kid) {
        case .success(let key?): return try allowed(key)
        case .success(nil): return try await withoutRow(kid, content)
        case .failure(let error):
            guard let former else { throw error }
            return try allowed(former.remembered(isStale: store.isAway))
        }
    }

    /// The key of a license, if it is available without waiting for the store.
    /// - Returns: `nil` for a key that has to be read first.
    /// - Throws: as `key(_:content:)`.
    package func knownKey(_ kid: KeyID, content: ContentName? = nil) throws(VaultError) -> VaultKey? {
        guard !store.holdsBack(kid, of: secrets.tenant) else { throw .disabled(kid) }
        switch remembered(kid, content) {
        case .known(let key): return try allowed(key.remembered(isStale: store.isAway))
        case .brief(let answer): return try answer.get()
        case .nothing: return nil
        }
    }

    /// How many open keys are in memory, for metrics.
    package var cachedCount: Int { state.withLock { $0.known.count } }

    /// Marks a key as changed in the store, so that it is read again before its next license. Until then, the old one counts.
    package func noteChange(of kid: KeyID) {
        state.withLock { state in
            let stamp = state.nextStamp()
            state.known.update(kid) { ($0.isChanged, $0.stamp) = (true, stamp) }
            state.reads[kid] = nil
            // A key known without a row is known under several names.
            state.expireShortLivedAnswers()
        }
    }

    /// Takes over the keys of a vault of the same tenant and store, because the configuration was read again.
    package func takeOver(_ former: TenantVault) {
        guard former.secrets.tenant.equalsByteForByte(secrets.tenant) else { return }
        var taken = former.state.withLock { $0 }
        taken.reads = [:]
        // Other settings give other answers for keys without a row.
        if former.settings.derivesUnlisted != settings.derivesUnlisted {
            taken.brief.removeAll()
            taken.onlyKeys.removeAll()
        }
        let state = taken
        self.state.withLock { $0 = state }
    }

    /// Reads data keys, seeds and all known keys again, because changes may have been missed. While the store does not answer, the known
    /// ones stay. Licenses continue meanwhile.
    /// - Throws: why not everything was read; everything read before that counts.
    package func refresh() async throws(VaultError) {
        try await secrets.reload()
        guard !store.isAway else { throw .store(.awayMeanwhile(store.engine)) }
        let kids = state.withLock { state in
            state.expireShortLivedAnswers()
            return state.known.keys
        }
        for start in stride(from: 0, to: kids.count, by: StoreLimits.pageRows) {
            try await refresh(Array(kids[start..<min(start + StoreLimits.pageRows, kids.count)]))
        }
    }

    /// Disables a key, or enables it again, here and in the store. Other nodes learn it from the store.
    ///
    /// While the store is unavailable, a node with its own copy disables the key immediately; the store gets the change later.
    /// - Returns: whether the store has the change; `false` if it gets it later.
    /// - Throws: `unknown`, `store`.
    @discardableResult
    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID) async throws(VaultError) -> Bool {
        await writePending()
        let isThere: Bool
        do throws(StoreError) {
            isThere = try await store.setDisabled(isDisabled, kid, of: secrets.tenant)
        } catch {
            guard isDisabled, error.isOutage, let pending = (store as? GuardedKeyStore)?.pending else {
                throw .store(error)
            }
            try await VaultError.asking { () throws(StoreError) in
                try await pending.add(.disabled(tenant: secrets.tenant, kid: "\(kid)"))
            }
            return false
        }
        noteChange(of: kid)
        guard isThere else { throw .unknown(kid) }
        // Immediately, whatever the next read says.
        state.withLock { state in
            state.known.update(kid) { known in
                known.row.isDisabled = isDisabled
                known.key.isDisabled = isDisabled
            }
        }
        _ = await row(kid)
        return true
    }

    private func allowed(_ key: VaultKey) throws(VaultError) -> VaultKey {
        if key.isDisabled, let kid = key.facts.id { throw .disabled(kid) }
        return key
    }

    private enum Memory {
        case known(VaultKey)
        case brief(Result<VaultKey, VaultError>)
        case nothing
    }

    private func remembered(_ kid: KeyID, _ content: ContentName?) -> Memory {
        let now = timekeeper.uptime
        let (memory, isOld): (Memory, Bool) = state.withLock { state in
            if let known = state.known.value(kid) { return (known.isChanged ? .nothing : .known(known.key), false) }
            guard let brief = state.brief.value(ShortLivedName(kid: kid, content: content)) else {
                return (.nothing, false)
            }
            return (.brief(brief.answer), now >= brief.end)
        }
        guard isOld, !store.isAway else { return memory }
        // A packager may have stored a key since then.
        guard case .brief(.success) = memory else { return .nothing }
        // No licensed viewer waits for the store: it is asked in the background.
        startTask { [self] in
            if case .success(nil) = await row(kid) { _ = try? await withoutRow(kid, content) }
        }
        return memory
    }

    private enum Step {
        case known(VaultKey)
        case wait(RowRead, UInt64)
    }

    /// The store's answer for a key; `nil` if it has no row. Concurrent callers share one read.
    func row(_ kid: KeyID) async -> Result<VaultKey?, VaultError> {
        let step: Step = state.withLock { state in
            // Another caller's read may have ended since the last look.
            if let known = state.known.peek(kid), !known.isChanged { return .known(known.key) }
            if let running = state.reads[kid] { return .wait(running, state.stamp) }
            let read = RowRead { await self.read(kid) }
            state.reads[kid] = read
            return .wait(read, state.stamp)
        }
        let (read, stamp): (RowRead, UInt64)
        switch step {
        case .known(let key): return .success(key.remembered(isStale: store.isAway))
        case .wait(let running, let began): (read, stamp) = (running, began)
        }
        let result = await read.value
        state.withLock { state in
            // After a change the read is no longer registered, and its answer is not kept.
            guard state.reads[kid] == read else { return }
            state.reads[kid] = nil
            switch result {
            case .success(let found?): state.keep(found.key, found.row, readAt: stamp)
            case .success(nil): state.forget(kid, readAt: stamp)
            case .failure: break
            }
        }
        return result.map { $0?.key }
    }

    private func read(_ kid: KeyID) async -> Result<(key: VaultKey, row: KeyRow)?, VaultError> {
        do throws(VaultError) {
            if let row = state.withLock({ $0.pending[kid] }) { return .success((try await opened(row), row)) }
            let rows = try await VaultError.asking { () throws(StoreError) in
                try await store.rows([kid], of: secrets.tenant)
            }
            guard let row = rows.first(where: { $0.kid == kid }) else { return .success(nil) }
            return .success((try await opened(row), row))
        } catch { return .failure(error) }
    }

    /// Reads some known keys again.
    private func refresh(_ kids: [KeyID]) async throws(VaultError) {
        let stamp = state.withLock { $0.stamp }
        let rows = try await VaultError.asking { () throws(StoreError) in
            try await store.rows(kids, of: secrets.tenant)
        }
        for row in rows {
            // The store became unavailable, and the node's copy is not newer than the known key.
            guard !row.isCopied else { throw .store(.awayMeanwhile(store.engine)) }
            let known = state.withLock { $0.known.peek(row.kid) }
            guard known?.row != row || known?.isChanged == true else { continue }
            let key = try await opened(row)
            state.withLock { $0.keep(key, row, readAt: stamp) }
        }
        let missing = Set(kids).subtracting(rows.map(\.kid))
        state.withLock { state in for kid in missing { state.forget(kid, readAt: stamp) } }
    }

    func opened(_ row: KeyRow) async throws(VaultError) -> VaultKey {
        VaultKey(row, try await secrets.contentKey(row.sealed))
    }

    /// The answer for a key without a row: a derived key, if the tenant's settings ask for it, or that there is none.
    private func withoutRow(_ kid: KeyID, _ content: ContentName?) async throws(VaultError) -> VaultKey {
        let answer: Result<VaultKey, VaultError>
        do throws(VaultError) {
            guard settings.derivesUnlisted, let content else { throw .unknown(kid) }
            let address = KeyAddress(content: content, kid: kid)
            let key = try await derived(address)
            let track = (try? CommonEncryptionTrack.reading(kid, content: content, tenant: secrets.tenant))?.track
            answer = .success(VaultKey(derived: key, at: address, track: track?.trackClass ?? .all))
        } catch { answer = .failure(error) }
        if case .failure(.store) = answer { return try answer.get() }
        let brief = ShortLivedAnswer(answer: answer, end: timekeeper.uptime + settings.shortLife)
        state.withLock { $0.brief.set(brief, for: ShortLivedName(kid: kid, content: content)) }
        return try answer.get()
    }
}

extension StoreError {
    fileprivate static func awayMeanwhile(_ engine: String) -> Self {
        StoreError(.unavailable, engine, reason: "The store did not answer while keys were reloaded.")
    }
}

extension TenantVault.State {
    /// Keeps a key that was read, unless a newer one is known.
    mutating func keep(_ key: VaultKey, _ row: KeyRow, readAt stamp: UInt64) {
        if let known = known.peek(row.kid), known.stamp > stamp { return }
        known.set(TenantVault.KnownKey(key: key, row: row, stamp: nextStamp()), for: row.kid)
    }

    /// Forgets a key that the store does not have, unless something newer is known.
    mutating func forget(_ kid: KeyID, readAt stamp: UInt64) {
        if let known = known.peek(kid), known.stamp > stamp { return }
        known.remove(kid)
    }

    /// Makes answers without a row expire.
    mutating func expireShortLivedAnswers() {
        brief.updateAll { $0.end = .zero }
        onlyKeys.updateAll { $0.end = .zero }
    }
}
