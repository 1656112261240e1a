import Foundation
import LatchkeyServer

/// A license server that keeps accounts and their sessions in the program's own store.
///
/// - Parameters:
///   - configuration: a `server.json`; its `stores.sessions` is not opened.
///   - sessions: the program's store.
func serveLicenses(
    configuration: URL, sessions: any RecordStore, ready: @Sendable (LicenseServer) -> Void
) async throws {
    let server = try await LicenseServer(configuration: configuration, stores: ServerStores(sessions: sessions))
    ready(server)
    await server.run()
}

/// Sessions in a dictionary. A real store keeps them where all nodes can access them, with the same guarantees.
actor DictionaryStore: RecordStore {
    nonisolated let engine = "dictionary"

    private struct Entry {
        let record: Record
        let end: Date
        let counted: [Date]
    }

    private var entries: [RecordKey: Entry] = [:]

    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        RecordReading(record: live(key)?.record, now: Date())
    }

    /// Writes only if no other writer has changed the record in the meantime, which is what enforces a limit on streams.
    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        guard live(key)?.record.version == replaced else { return false }
        entries[key] = Entry(record: record, end: end, counted: ends)
        return true
    }

    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        guard live(key)?.record.version == version else { return false }
        entries[key] = nil
        return true
    }

    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        // Compares bytes: two Unicode forms of one letter are two names.
        live(kind, tenant).filter { $0.name.utf8.starts(with: prefix.utf8) }
            .filter { (name ?? "").utf8.lexicographicallyPrecedes($0.name.utf8) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.prefix(limit)
            .compactMap { key in
                entries[key].map { NamedRecord(name: key.name, record: $0.record, end: $0.end) }
            }
    }

    func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let now = Date()
        let counted = live(kind, tenant).compactMap { entries[$0]?.counted }.joined()
        return RecordCount(counted.count { $0 > now }, isWhole: true)
    }

    private func live(_ key: RecordKey) -> Entry? {
        entries[key].flatMap { $0.end > Date() ? $0 : nil }
    }

    private func live(_ kind: RecordKey.Kind, _ tenant: String) -> [RecordKey] {
        entries.keys.filter { $0.kind == kind && $0.tenant.utf8.elementsEqual(tenant.utf8) && live($0) != nil }
    }
}
