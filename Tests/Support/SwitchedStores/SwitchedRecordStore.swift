package import Foundation
package import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// A store of sessions that a test can take down.
package final class SwitchedRecordStore: RecordStore {
    /// Its contents, available or not.
    package let inner: MemoryRecordStore
    private let isDown = Locked(false)

    package let engine = "switched"

    /// - Parameter timekeeper: its clock. Defaults to the machine's.
    package init(timekeeper: any Timekeeper = SystemTimekeeper()) { inner = MemoryRecordStore(timekeeper: timekeeper) }

    /// Takes it down, or brings it back.
    package func setDown(_ value: Bool) { isDown.withLock { $0 = value } }

    private func ask() throws(StoreError) {
        if isDown.withLock({ $0 }) { throw StoreError(.unavailable, engine, reason: "The test took it away.") }
    }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        try ask()
        return try await inner.read(key)
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.write(record, at: key, replacing: replaced, until: end, counting: ends)
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try ask()
        return try await inner.remove(key, version: version)
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        try ask()
        return try await inner.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
    }

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        try ask()
        return try await inner.count(of: kind, tenant, most: most, ends)
    }
}
