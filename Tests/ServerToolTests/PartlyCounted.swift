import Foundation

@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import TestServers

/// A store that holds more than it counts.
struct PartlyCounted: RecordStore {
    let engine = "partly"

    private var away: StoreError { StoreError(.unavailable, engine, reason: "The test keeps nothing.") }

    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading { throw away }

    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool { throw away }

    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool { throw away }

    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] { throw away }

    func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount { RecordCount(2, isWhole: false) }
}
