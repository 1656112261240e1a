import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores

/// The contents of the disk when a write is answered.
@Suite(.timeLimit(.minutes(1))) struct SQLiteDurabilityTests {
    private let folder: TemporaryFolder
    private let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(path: folder.path("store.db"))
    }

    /// How the last write went: 2 waits for the disk, 1 does not.
    private func synchronous(_ lane: SQLiteLane) async throws -> Int64 {
        try await lane.read { connection throws(StoreError) in try connection.number("PRAGMA synchronous") }
    }

    /// Every write except records.
    private static let durable: [(String, @Sendable (SQLiteStore) async throws -> Void)] = [
        ("add", { _ = try await $0.add([SampleKeys.row(2)]) }),
        ("setDisabled", { _ = try await $0.setDisabled(true, SampleKeys.kid(1), of: "acme") }),
        ("replace", { _ = try await $0.replace(SampleKeys.sealed(1), by: SampleKeys.row(1, secret: 9)) }),
        ("remove", { _ = try await $0.remove(SampleKeys.sealed(1)) }),
        ("reseal", { _ = try await $0.reseal([SampleKeys.sealed(1, dataKey: 2)]) }),
        (
            "add(seed:)",
            {
                var seed = SampleKeys.sealed(1)
                seed.subject = .seed(SeedVersion(1))
                _ = try await $0.add(seed: seed)
            }
        ),
        ("put", { _ = try await $0.put(SampleKeys.dataKey(1), replacing: nil) }),
        (
            "append",
            {
                let hash = [UInt8](repeating: 1, count: 32)
                _ = try await $0.append(AuditEntry(sequence: 1, text: "{}", previous: hash, hash: hash))
            }
        ),
    ]

    @Test(arguments: durable.indices)
    func `keys, seeds and audit entries are on disk when acknowledged; records need not be`(
        _ index: Int
    ) async throws {
        let (name, write) = Self.durable[index]
        _ = try await store.add([SampleKeys.row(1)])
        #expect(try await store.put("anna"))
        #expect(try await synchronous(store.writer) == 1)
        try await write(store)
        #expect(try await synchronous(store.writer) == 2, "\(name)")
        let reading = try await store.read(RecordKey(.account, tenant: "acme", name: "anna"))
        let version = try #require(reading.record?.version)
        #expect(try await store.remove(RecordKey(.account, tenant: "acme", name: "anna"), version: version))
        #expect(try await synchronous(store.writer) == 1)
    }

    @Test func `a key that shares a transaction with records is on disk when acknowledged`() async throws {
        let (gate, isHeld) = (DispatchSemaphore(value: 0), Gate())
        let writer = store.writer
        let hold = Task {
            try await writer.read { _ throws(StoreError) in
                isHeld.open()
                gate.wait()
            }
        }
        await isHeld.wait()
        // The waiting writes are one transaction: the key is neither the first nor the last of it.
        writer.writeLater { _ throws(StoreError) in }
        let key = Task { try await writer.write(.full) { _ throws(StoreError) in } }
        for _ in 0..<1_000 { await Task.yield() }
        writer.writeLater { _ throws(StoreError) in }
        gate.signal()
        try await hold.value
        try await key.value
        #expect(try await synchronous(writer) == 2)
    }

    @Test func `a change that waits for the store is on the copy's disk when acknowledged`() async throws {
        let copy = try SQLiteNodeCopy(path: folder.path("copy.db"), timekeeper: ManualTimekeeper())
        let change = PendingChange(.audit(text: "x"))
        for write in [copy.add, copy.remove] as [(PendingChange) async throws -> Void] {
            try await copy.writer.write(.lazy) { _ throws(StoreError) in }
            #expect(try await synchronous(copy.writer) == 1)
            try await write(change)
            #expect(try await synchronous(copy.writer) == 2)
        }
        copy.close()
    }
}
