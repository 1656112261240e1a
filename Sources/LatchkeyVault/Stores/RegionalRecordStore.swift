package import Foundation
import LatchkeyCore
package import LatchkeySystem

/// Records in several regions. Each record is in one region: the home of its account.
///
/// So a limit is global, and a node in another region makes a trip to the home, and no other. The home is computed from names
/// alone: every node finds the same one without asking. Another region takes over its share of the accounts, and no account moves between
/// the others.
///
/// Keeps nothing itself. `GuardedRecords` gives each region its own guard.
///
/// Source: `Documentation/Server/Regions.md`.
package final class RegionalRecordStore: RecordStore {
    package let engine = "regions"
    /// The stores by their regions' names.
    package let stores: [String: any RecordStore]
    private let names: [String]
    private let first: any RecordStore

    /// - Parameter stores: the stores by their regions' names. The result is `nil` without any.
    package init?(_ stores: [String: any RecordStore]) {
        names = stores.keys.sorted()
        guard let first = names.first.flatMap({ stores[$0] }) else { return nil }
        (self.stores, self.first) = (stores, first)
    }

    /// The region that keeps a record: the region whose name gives the highest number with the account's.
    package func home(of key: RecordKey) -> String {
        let account = "\(key.tenant)\0\(key.owner ?? key.name)".utf8.stableHash()
        return names.max { Self.score($0, account) < Self.score($1, account) } ?? ""
    }

    /// The hash of both, mixed so that each bit depends on all bits, because names are similar.
    private static func score(_ region: String, _ account: UInt64) -> UInt64 {
        var bits = region.utf8.stableHash() ^ account
        for factor: UInt64 in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
            bits = (bits ^ (bits >> 30)) &* factor
        }
        return bits ^ (bits >> 31)
    }

    private func store(of key: RecordKey) -> any RecordStore { stores[home(of: key)] ?? first }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading { try await store(of: key).read(key) }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try await store(of: key).write(record, at: key, replacing: replaced, until: end, counting: ends)
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try await store(of: key).remove(key, version: version)
    }

    /// If several regions have a record, as after a change of the regions, the page has the home's record, which counts.
    /// - Throws: `StoreError` of any region: a page without some accounts would claim that they do not exist.
    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let pages = await all { store throws(StoreError) in
            try await store.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
        }
        var named: [[UInt8]: NamedRecord] = [:]
        for (region, page) in pages {
            for one in try page.get() {
                let isHome = region == home(of: RecordKey(kind, tenant: tenant, name: one.name))
                if isHome || named[Array(one.name.utf8)] == nil { named[Array(one.name.utf8)] = one }
            }
        }
        let sorted = named.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        return Array(sorted.prefix(StoreLimits.page(limit)))
    }

    /// The sum over the regions that answer: a lower bound if one does not.
    /// - Throws: `StoreError` if no region answers.
    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let counts = await all { store throws(StoreError) in
            try await store.count(of: kind, tenant, most: most, ends)
        }.map(\.outcome)
        let known = counts.compactMap { try? $0.get() }
        if known.isEmpty, let none = counts.first { return try none.get() }
        return RecordCount(
            known.reduce(0) { $0 + $1.value }, isWhole: known.count == counts.count && known.allSatisfy(\.isWhole))
    }

    /// Asks all regions concurrently. The outcomes come in any order.
    private func all<Value: Sendable>(
        _ ask: @escaping @Sendable (any RecordStore) async throws(StoreError) -> Value
    ) async -> [(region: String, outcome: Result<Value, StoreError>)] {
        await withTaskGroup { group in
            for (region, store) in stores {
                group.addTask {
                    let outcome = await Result { () async throws(StoreError) in try await ask(store) }
                    return (region: region, outcome: outcome)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
