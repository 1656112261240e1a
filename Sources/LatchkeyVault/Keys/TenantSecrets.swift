package import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem

/// A tenant's data keys and seeds, open in memory.
///
/// The store has them wrapped and sealed: data keys by the key encryption key, seeds by a data key.
///
/// Source: `Documentation/LicenseServer.md` §8.1 and §8.2.
package final class TenantSecrets: Sendable {
    private struct State {
        var dataKeys: [UInt32: DataKey] = [:]
        var seeds: TenantSeeds?
    }

    /// The tenant's name.
    package let tenant: String
    private let store: any KeyStore
    private let wrapping: KeyEncryptionKeys
    /// Seeds from the configuration, which replace the store's.
    private let configured: TenantSeeds?
    private let state = Locked(State())

    private init(_ tenant: String, _ store: any KeyStore, _ wrapping: KeyEncryptionKeys, _ configured: TenantSeeds?) {
        self.tenant = tenant
        self.store = store
        self.wrapping = wrapping
        self.configured = configured
    }

    /// Opens a tenant's data keys and seeds.
    /// - Parameters:
    ///   - tenant: the tenant's name.
    ///   - store: the store that holds them.
    ///   - wrapping: the key encryption keys.
    ///   - seeds: seeds from the configuration, instead of the store's. Defaults to the store's.
    ///   - rows: the result of `store.dataKeys()`, if many tenants are opened together. Defaults to asking the store.
    /// - Throws: `tenantMissing` if the store has none: a lost seed is never replaced by a new one.
    package static func open(
        _ tenant: String, in store: any KeyStore, with wrapping: KeyEncryptionKeys, seeds: TenantSeeds? = nil,
        rows: [WrappedDataKey]? = nil
    ) async throws(VaultError) -> TenantSecrets {
        let secrets = TenantSecrets(tenant, store, wrapping, seeds)
        try await secrets.reload(rows)
        return secrets
    }

    /// Makes a tenant's first data key and seed if they are missing, and opens them. If two nodes do it concurrently, one of them wins, and
    /// both have its keys.
    /// - Parameters:
    ///   - tenant: the tenant's name.
    ///   - store: the store that gets them.
    ///   - wrapping: the key encryption keys.
    ///   - generator: the source of both. Defaults to libcrypto.
    /// - Throws: `secretsLost` if the store has keys of the tenant already: new secrets would open none of them.
    package static func create(
        _ tenant: String, in store: any KeyStore, with wrapping: KeyEncryptionKeys,
        using generator: any RandomNumberGenerator = CryptographicGenerator()
    ) async throws(VaultError) -> TenantSecrets {
        let secrets = TenantSecrets(tenant, store, wrapping, nil)
        var generator = generator
        try await secrets.loadDataKeys(nil)
        let hasSeeds = try await !secrets.storedSeeds().isEmpty
        // If there are keys, missing secrets are lost, or another node has just made them.
        if secrets.newest == nil || !hasSeeds, try await secrets.isWithoutKeys() {
            if secrets.newest == nil { try await secrets.addDataKey(using: &generator) }
            // The seed is added behind the list read here: of several nodes that find it empty, all add the first seed, and one wins.
            let seeds = try await secrets.storedSeeds()
            if seeds.isEmpty { try await secrets.addSeed(behind: seeds, using: &generator) }
        }
        do throws(VaultError) { try await secrets.reload(nil) } catch {
            guard case .tenantMissing = error else { throw error }
            throw .secretsLost(tenant)
        }
        return secrets
    }

    private func isWithoutKeys() async throws(VaultError) -> Bool {
        try await VaultError.asking { () throws(StoreError) in try await store.count(of: tenant) } == 0
    }

    /// Reads the tenant's data keys and seeds again, because another node has made some.
    package func reload() async throws(VaultError) { try await reload(nil) }

    /// The seeds that keys are derived from.
    var seeds: TenantSeeds? { state.withLock { $0.seeds } }

    /// The data key that seals.
    var newest: DataKey? { state.withLock { state in state.dataKeys.keys.max().flatMap { state.dataKeys[$0] } } }

    /// The first data key, which is permanent.
    var oldest: DataKey? { state.withLock { state in state.dataKeys.keys.min().flatMap { state.dataKeys[$0] } } }

    /// Opens a row. If another node's data key sealed it, the data keys are read again.
    func open(_ row: SealedKey) async throws(VaultError) -> Secret {
        if state.withLock({ $0.dataKeys[row.dataKey] }) == nil { try await loadDataKeys(nil) }
        guard let key = state.withLock({ $0.dataKeys[row.dataKey] }) else { throw .tenantMissing(tenant) }
        return try key.open(row)
    }

    /// Opens a content key.
    package func contentKey(_ row: SealedKey) async throws(VaultError) -> ContentKey {
        if state.withLock({ $0.dataKeys[row.dataKey] }) == nil { try await loadDataKeys(nil) }
        guard let key = state.withLock({ $0.dataKeys[row.dataKey] }) else { throw .tenantMissing(tenant) }
        return try key.contentKey(row)
    }

    private func reload(_ rows: [WrappedDataKey]?) async throws(VaultError) {
        try await loadDataKeys(rows)
        guard newest != nil else { throw .tenantMissing(tenant) }
        let seeds: TenantSeeds
        if let configured { seeds = configured } else { seeds = try await openedSeeds() }
        state.withLock { $0.seeds = seeds }
    }

    private func loadDataKeys(_ rows: [WrappedDataKey]?) async throws(VaultError) {
        let all: [WrappedDataKey]
        if let rows {
            all = rows
        } else {
            all = try await VaultError.asking { () throws(StoreError) in try await store.dataKeys() }
        }
        // An open data key stays: it counts its seals.
        let known = state.withLock { Set($0.dataKeys.keys) }
        for row in all where row.tenant.equalsByteForByte(tenant) && !known.contains(row.version) {
            let key = try wrapping.open(row)
            state.withLock { state in if state.dataKeys[row.version] == nil { state.dataKeys[row.version] = key } }
        }
    }

    private func storedSeeds() async throws(VaultError) -> [SealedKey] {
        try await VaultError.asking { () throws(StoreError) in try await store.seeds(of: tenant) }
    }

    private func openedSeeds() async throws(VaultError) -> TenantSeeds {
        var seeds: [SeedVersion: Secret] = [:]
        for row in try await storedSeeds() {
            guard case .seed(let version) = row.subject else { continue }
            seeds[version] = try await open(row)
        }
        guard let current = seeds.keys.max() else { throw .tenantMissing(tenant) }
        return try TenantSeeds(tenant: tenant, seeds: seeds, current: current)
    }

    // MARK: - New ones

    /// Makes a new data key, which seals from now on. Rows stay as they are until `reseal`.
    /// - Returns: its version. If another node makes one at the same time, it is that node's.
    @discardableResult
    package func renewDataKey() async throws(VaultError) -> UInt32 {
        var generator: any RandomNumberGenerator = CryptographicGenerator()
        try await loadDataKeys(nil)
        try await addDataKey(using: &generator)
        guard let newest else { throw .tenantMissing(tenant) }
        return newest.version
    }

    /// Makes a new seed for new content. Content that has keys keeps the seed that they come from.
    /// - Returns: its version. If another node makes one at the same time, it is that node's.
    @discardableResult
    package func renewSeed() async throws(VaultError) -> SeedVersion {
        var generator: any RandomNumberGenerator = CryptographicGenerator()
        try await addSeed(behind: storedSeeds(), using: &generator)
        try await reload(nil)
        guard let seeds else { throw .tenantMissing(tenant) }
        return seeds.current
    }

    /// Seals everything again that an older data key sealed, in the background of a running server.
    ///
    /// May be interrupted; the next call, on any node, resumes where it stopped.
    /// - Parameter limit: how many rows at a time, 1 to 1,000. Defaults to 500.
    /// - Returns: how many keys and seeds were sealed again.
    @discardableResult
    package func reseal(limit: Int = 500) async throws(VaultError) -> Int {
        try await loadDataKeys(nil)
        guard let newest else { throw .tenantMissing(tenant) }
        let seeds = try await storedSeeds().filter { $0.dataKey < newest.version }
        var count = try await reseal(seeds, newest)
        while !Task.isCancelled {
            let rows = try await VaultError.asking { () throws(StoreError) in
                try await store.rows(of: tenant, sealedBefore: newest.version, limit: max(1, min(limit, 1_000)))
            }
            guard !rows.isEmpty else { break }
            count += try await reseal(rows.map(\.sealed), newest)
        }
        return count
    }

    private func reseal(_ rows: [SealedKey], _ newest: DataKey) async throws(VaultError) -> Int {
        var generator = CryptographicGenerator()
        var sealed: [SealedKey] = []
        for row in rows {
            let secret = try await open(row)
            sealed.append(try newest.seal(secret, as: row.subject, using: &generator))
        }
        guard !sealed.isEmpty else { return 0 }
        let ready = sealed
        return try await VaultError.asking { () throws(StoreError) in try await store.reseal(ready) }
    }

    private func addDataKey(using generator: inout any RandomNumberGenerator) async throws(VaultError) {
        let key = DataKey(tenant: tenant, version: (newest?.version ?? 0) &+ 1, using: &generator)
        let wrapped = try wrapping.current.wrap(key, using: &generator)
        let isOurs = try await VaultError.asking { () throws(StoreError) in
            try await store.put(wrapped, replacing: nil)
        }
        if isOurs { state.withLock { $0.dataKeys[key.version] = key } } else { try await loadDataKeys(nil) }
    }

    private func addSeed(
        behind seeds: [SealedKey], using generator: inout any RandomNumberGenerator
    ) async throws(VaultError) {
        guard let newest else { throw .tenantMissing(tenant) }
        var last: UInt32 = 0
        for case .seed(let version) in seeds.map(\.subject) { last = max(last, version.number) }
        var bytes = generator.bytes(TenantSeeds.leastCount)
        defer { erase(&bytes) }
        let sealed = try newest.seal(Secret(bytes), as: .seed(SeedVersion(last &+ 1)), using: &generator)
        _ = try await VaultError.asking { () throws(StoreError) in try await store.add(seed: sealed) }
    }
}
