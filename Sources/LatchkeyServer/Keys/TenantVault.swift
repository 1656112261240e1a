package import LatchkeyCore
import LatchkeyFairPlay

/// One tenant's content keys, for packagers and for licenses.
///
/// Licenses: what was asked before is answered from memory, where keys are in `Secret`. Else the store is read, once for all who ask at
/// the same time. While the store does not answer, a derived key is made again from its seed; that needs the content, which key URIs of the
/// tenant's template say. Whoever names a wrong content gets a wrong key, so that a license for one content never opens another.
///
/// Packagers: see `keys(for:)`.
///
///     let secrets = try await TenantSecrets.open("acme", in: store, with: keys)
///     let vault = TenantVault(secrets, store: store)
///     let key = try await vault.key(kid, content: content)
///
/// Source: `Documentation/LicenseServer.md` §1 and §8.
package final class TenantVault: ContentKeySource {
    /// Where new keys come from.
    package enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The tenant's seed: every node makes the same, with or without a store.
        case derived
        /// Randomness; the store decides which node's key it is.
        case stored
    }

    /// How a vault works.
    package struct Settings: Sendable {
        /// Where new keys come from.
        package var origin = Origin.derived
        /// How many open keys are kept, and how many answers without a row.
        package var cacheLimit = 100_000
        /// How long an answer without a row counts: a derived key, or that there is none.
        package var briefLife = Duration.seconds(5)
        /// How long a store that failed is not asked for licenses.
        package var storePause = Duration.seconds(2)

        package init() {}
    }

    struct State: Sendable {
        var known: RecentValues<KeyID, VaultKey>
        var brief: RecentValues<BriefName, BriefAnswer>
        /// Reads of the store under way. Each ends with the store's answer; nobody cancels it.
        var reads: [KeyID: Task<Result<VaultKey?, VaultError>, Never>] = [:]
        var breaker: CircuitBreaker
        /// The seeds of contents, where there are several.
        var versions: RecentValues<ContentName, SeedVersion>
        /// Rows of derived keys that the store did not take yet.
        var pending: [KeyID: KeyRow] = [:]
        /// The only key of contents, until some time if the store has none.
        var onlyKeys: RecentValues<ContentName, (kid: KeyID, end: Duration?)>
    }

    struct BriefName: Sendable, Hashable {
        let kid: KeyID
        let content: ContentName?
    }

    struct BriefAnswer: Sendable {
        let answer: Result<VaultKey, VaultError>
        let end: Duration
    }

    /// The tenant's data keys and seeds.
    package let secrets: TenantSecrets
    let store: any KeyStore
    let settings: Settings
    let timekeeper: any Timekeeper
    let generator: @Sendable () -> any RandomNumberGenerator
    let state: Locked<State>

    /// - Parameters:
    ///   - secrets: the tenant's data keys and seeds.
    ///   - store: where its rows are.
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
                breaker: CircuitBreaker(CircuitBreaker.Limits(failures: 1, pause: settings.storePause)),
                versions: RecentValues(limit: settings.cacheLimit), onlyKeys: RecentValues(limit: settings.cacheLimit)))
    }

    /// The key of a license.
    /// - Parameters:
    ///   - kid: the key's identifier.
    ///   - content: the content, if the key's URI says it. It does not matter where the store has the key.
    /// - Throws: `unknown`, `disabled`, `store` if the store does not answer and nothing else helps, `protection`.
    package func key(_ kid: KeyID, content: ContentName? = nil) async throws(VaultError) -> VaultKey {
        if let answer = remembered(kid, content) { return try allowed(answer.get()) }
        switch await row(kid) {
        case .success(let key?): return try allowed(key)
        case .success(nil): return try await withoutRow(kid, content, .unknown(kid))
        case .failure(.store(let error)): return try await withoutRow(kid, content, .store(error))
        case .failure(let error): throw error
        }
    }

    /// How many open keys are in memory, for metrics.
    package var cachedCount: Int { state.withLock { $0.known.count } }

    /// Forgets what was known of a key, because it changed in the store.
    package func invalidate(_ kid: KeyID) {
        state.withLock { state in
            state.known.remove(kid)
            state.reads[kid] = nil
            // What is known without a row is known for some seconds only, and under several names.
            state.brief.removeAll()
            state.onlyKeys.removeAll()
        }
    }

    /// Forgets all keys, because changes may have been missed.
    package func invalidateAll() {
        state.withLock { state in
            state.known.removeAll()
            state.brief.removeAll()
            state.reads = [:]
            state.versions.removeAll()
            state.onlyKeys.removeAll()
        }
    }

    /// Forgets all keys, and reads data keys and seeds again, because another node may have new ones. While the store does not answer,
    /// the known ones stay.
    package func follow() async {
        try? await secrets.reload()
        invalidateAll()
    }

    /// Disables a key, or enables it again, here and in the store. Other nodes learn it by `invalidate`.
    /// - Throws: `unknown`, `store`.
    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID) async throws(VaultError) {
        await writePending()
        let isThere = try await VaultError.asking { () throws(StoreError) in
            try await store.setDisabled(isDisabled, kid, of: secrets.tenant)
        }
        invalidate(kid)
        guard isThere else { throw .unknown(kid) }
    }

    private func allowed(_ key: VaultKey) throws(VaultError) -> VaultKey {
        if key.isDisabled, let kid = key.facts.id { throw .disabled(kid) }
        return key
    }

    private func remembered(_ kid: KeyID, _ content: ContentName?) -> Result<VaultKey, VaultError>? {
        let now = timekeeper.uptime
        return state.withLock { state in
            if let key = state.known.value(kid) { return .success(key) }
            guard let brief = state.brief.value(BriefName(kid: kid, content: content)), now < brief.end else {
                return nil
            }
            return brief.answer
        }
    }

    /// What the store says of a key; `nil` if it has none. Who asks at the same time shares one read.
    private func row(_ kid: KeyID) async -> Result<VaultKey?, VaultError> {
        let read = state.withLock { state in
            if let running = state.reads[kid] { return running }
            let read = Task { await self.read(kid) }
            state.reads[kid] = read
            return read
        }
        let result = await read.value
        state.withLock { state in
            // After an invalidation the read is not there any more, and its answer is not kept.
            guard state.reads[kid] == read else { return }
            state.reads[kid] = nil
            if case .success(let key?) = result { state.known.set(key, for: kid) }
        }
        return result
    }

    private func read(_ kid: KeyID) async -> Result<VaultKey?, VaultError> {
        do throws(VaultError) {
            if let row = state.withLock({ $0.pending[kid] }) { return .success(try await opened(row)) }
            guard let permit = state.withLock({ $0.breaker.permit(at: timekeeper.uptime) }) else {
                throw .store(.pausing(store.engine))
            }
            let rows: [KeyRow]
            do { rows = try await store.rows([kid], of: secrets.tenant) } catch {
                state.withLock { $0.breaker.failed(permit, at: timekeeper.uptime) }
                throw .store(error)
            }
            state.withLock { $0.breaker.answered(permit) }
            guard let row = rows.first(where: { $0.kid == kid }) else { return .success(nil) }
            return .success(try await opened(row))
        } catch { return .failure(error) }
    }

    func opened(_ row: KeyRow) async throws(VaultError) -> VaultKey {
        VaultKey(row, try await secrets.contentKey(row.sealed))
    }

    /// The answer where there is no row, or none to be had: a derived key, or the reason that there is none.
    private func withoutRow(
        _ kid: KeyID, _ content: ContentName?, _ failure: VaultError
    ) async throws(VaultError) -> VaultKey {
        let answer: Result<VaultKey, VaultError>
        do throws(VaultError) {
            guard settings.origin == .derived, let content else { throw failure }
            let address = KeyAddress(content: content, kid: kid)
            let key = try await derived(address)
            let track = (try? CommonEncryptionTrack.reading(kid, content: content, tenant: secrets.tenant))?.track
            answer = .success(VaultKey(derived: key, at: address, track: track?.trackClass ?? .all))
        } catch { answer = .failure(error) }
        // A store that failed is known by its breaker; what it would say is not.
        if case .failure(.store) = answer { return try answer.get() }
        let brief = BriefAnswer(answer: answer, end: timekeeper.uptime + settings.briefLife)
        state.withLock { $0.brief.set(brief, for: BriefName(kid: kid, content: content)) }
        return try answer.get()
    }
}

extension StoreError {
    fileprivate static func pausing(_ engine: String) -> Self {
        StoreError(.unavailable, engine, reason: "The store failed a moment ago and is not asked now.")
    }
}
