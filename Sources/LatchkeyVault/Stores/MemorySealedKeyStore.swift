package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem

/// Keys in this process: for tests, for one node whose keys are all derived, and the model for the other stores.
///
/// Source: `Documentation/LicenseServer.md` §8.
package final class MemorySealedKeyStore: KeyStore {
    private struct Tenant {
        var rows: [KeyID: KeyRow] = [:]
        var seeds: [SeedVersion: SealedKey] = [:]
        var dataKeys: [UInt32: WrappedDataKey] = [:]
    }

    package let engine = "memory"
    package let reach = EngineReach.memory
    private let tenants = Locked<[String: Tenant]>([:])
    private let blocked = Locked<[Block.Subject: Block]>([:])

    package init() {}

    package func add(_ rows: [KeyRow]) async throws(StoreError) -> [KeyRow] {
        tenants.withLock { tenants in
            rows.map { row in
                if let held = tenants[row.sealed.tenant]?.rows[row.kid] { return held }
                tenants[row.sealed.tenant, default: Tenant()].rows[row.kid] = row
                return row
            }
        }
    }

    package func rows(_ kids: [KeyID], of tenant: String) async throws(StoreError) -> [KeyRow] {
        tenants.withLock { tenants in Set(kids).compactMap { tenants[tenant]?.rows[$0] } }
    }

    package func page(
        of tenant: String, search: String, after cursor: KeyRow.Cursor?, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        let kid = KeyID(search)
        let found = all(of: tenant).filter { row in
            (search.isEmpty || row.kid == kid || row.content.bytes.starts(with: search.utf8))
                && cursor.map { $0.precedes(row.cursor) } ?? true
        }
        return Array(found.sorted { $0.cursor.precedes($1.cursor) }.prefix(max(1, min(limit, 1_000))))
    }

    package func count(of tenant: String) async throws(StoreError) -> Int {
        tenants.withLock { $0[tenant]?.rows.count ?? 0 }
    }

    package func reseal(_ rows: [SealedKey]) async throws(StoreError) -> Int {
        tenants.withLock { tenants in
            rows.count { new in
                switch new.subject {
                case .contentKey(let kid):
                    guard let old = tenants[new.tenant]?.rows[kid]?.sealed, old.dataKey < new.dataKey else {
                        return false
                    }
                    tenants[new.tenant]?.rows[kid]?.sealed = new
                case .seed(let version):
                    guard let old = tenants[new.tenant]?.seeds[version], old.dataKey < new.dataKey else { return false }
                    tenants[new.tenant]?.seeds[version] = new
                }
                return true
            }
        }
    }

    package func rows(
        of tenant: String, sealedBefore dataKey: UInt32, limit: Int
    ) async throws(StoreError) -> [KeyRow] {
        Array(all(of: tenant).lazy.filter { $0.sealed.dataKey < dataKey }.prefix(max(1, limit)))
    }

    package func setDisabled(_ isDisabled: Bool, _ kid: KeyID, of tenant: String) async throws(StoreError) -> Bool {
        tenants.withLock { tenants in
            guard tenants[tenant]?.rows[kid] != nil else { return false }
            tenants[tenant]?.rows[kid]?.isDisabled = isDisabled
            return true
        }
    }

    package func replace(_ held: SealedKey, by row: KeyRow) async throws(StoreError) -> Bool {
        guard case .contentKey(let kid) = held.subject, row.kid == kid, row.sealed.subject == held.subject,
            row.sealed.tenant.equalsByteForByte(held.tenant)
        else {
            throw StoreError(
                .unfit, engine, reason: "A key can only be replaced with a key of the same tenant and kid.")
        }
        return tenants.withLock { tenants in
            guard tenants[held.tenant]?.rows[kid]?.sealed == held else { return false }
            tenants[held.tenant]?.rows[kid] = row
            return true
        }
    }

    package func remove(_ held: SealedKey) async throws(StoreError) -> Bool {
        guard case .contentKey(let kid) = held.subject else {
            throw StoreError(.unfit, engine, reason: "A seed was given instead of a content key.")
        }
        return tenants.withLock { tenants in
            guard tenants[held.tenant]?.rows[kid]?.sealed == held else { return false }
            tenants[held.tenant]?.rows[kid] = nil
            return true
        }
    }

    package func block(_ block: Block) async throws(StoreError) { blocked.withLock { $0[block.subject] = block } }

    package func unblock(_ subject: Block.Subject) async throws(StoreError) -> Bool {
        blocked.withLock { $0.removeValue(forKey: subject) != nil }
    }

    package func blocks() async throws(StoreError) -> [Block] { blocked.withLock { Array($0.values) } }

    package func fingerprint() async throws(StoreError) -> DatabaseFingerprint? { nil }

    package func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        tenants.withLock { Array(($0[tenant]?.seeds ?? [:]).values) }
    }

    package func add(seed: SealedKey) async throws(StoreError) -> Bool {
        guard case .seed(let version) = seed.subject else { return false }
        return tenants.withLock { tenants in
            guard tenants[seed.tenant]?.seeds[version] == nil else { return false }
            tenants[seed.tenant, default: Tenant()].seeds[version] = seed
            return true
        }
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        tenants.withLock { $0.values.flatMap(\.dataKeys.values) }
    }

    package func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        tenants.withLock { tenants in
            guard tenants[dataKey.tenant]?.dataKeys[dataKey.version]?.wrapper == wrapper else { return false }
            tenants[dataKey.tenant, default: Tenant()].dataKeys[dataKey.version] = dataKey
            return true
        }
    }

    private func all(of tenant: String) -> [KeyRow] {
        tenants.withLock { Array(($0[tenant]?.rows ?? [:]).values) }
    }
}

extension KeyRow.Cursor {
    /// Whether it comes before another: by the content's bytes, then by the kid's.
    fileprivate func precedes(_ other: Self) -> Bool {
        content == other.content
            ? kid.bytes.lexicographicallyPrecedes(other.kid.bytes)
            : content.bytes.lexicographicallyPrecedes(other.content.bytes)
    }
}
