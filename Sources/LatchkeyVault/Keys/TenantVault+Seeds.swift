import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem

/// Derives keys, each content's with its own seed.
extension TenantVault {
    /// The derived key of an address.
    /// - Throws: `store` if there are several seeds, and it is unknown now which one the content has.
    func derived(_ address: KeyAddress) async throws(VaultError) -> ContentKey {
        guard let seeds = secrets.seeds else { throw .tenantMissing(secrets.tenant) }
        let version = try await version(of: address.content, seeds)
        return try KeyDerivation(seeds).key(at: address, version: version)
    }

    /// The seed of a content: the seed of its stored keys, or the current one for new content.
    private func version(of content: ContentName, _ seeds: TenantSeeds) async throws(VaultError) -> SeedVersion {
        guard seeds.versions.count > 1 else { return seeds.current }
        if let version = state.withLock({ $0.versions.value(content) }) { return version }
        let rows = try await rows(of: content, limit: 16)
        var version: SeedVersion?
        for row in rows where version == nil { version = try await maker(of: row, seeds) }
        // New content has no rows yet, and its first ones may be another node's: the answer is not remembered.
        guard let version else { return seeds.current }
        state.withLock { $0.versions.set(version, for: content) }
        return version
    }

    /// Rows of a content.
    package func rows(of content: ContentName, limit: Int) async throws(VaultError) -> [KeyRow] {
        // A page begins after a kid, and this kid belongs to no key.
        guard let none = KeyID(bytes: [UInt8](repeating: 0, count: 16)) else { return [] }
        let page = try await VaultError.asking { () throws(StoreError) in
            try await store.page(
                of: secrets.tenant, search: "", after: KeyRow.Cursor(content: content, kid: none), limit: limit)
        }
        return page.filter { $0.content == content }
    }

    /// The seed that made a row's key; `nil` for a key from elsewhere.
    private func maker(of row: KeyRow, _ seeds: TenantSeeds) async throws(VaultError) -> SeedVersion? {
        let key = try await secrets.contentKey(row.sealed).key
        let address = KeyAddress(content: row.content, kid: row.kid)
        for version in seeds.versions where try KeyDerivation(seeds).key(at: address, version: version).key == key {
            return version
        }
        return nil
    }
}
