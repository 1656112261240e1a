import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyTesting
import Testing

@testable import LatchkeyStores

/// The engines over which the contracts' suites run.
enum Engine: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite
    case postgresql

    var testDescription: String { rawValue }

    private static let installed = allCases.filter { $0 != .postgresql || PostgreSQLProcess.programs != nil }
    /// Those that keep records.
    static let ofRecords = installed
    /// Those that keep keys and the audit. The memory's have suites of their own in the server's tests.
    static let ofKeys = installed.filter { $0 != .memory }

    /// Opens a new, empty store for a body, with limits that a busy machine keeps.
    func open(_ body: (Stores) async throws -> Void) async throws {
        switch self {
        case .memory: try await body(Stores(records: MemoryRecordStore()))
        case .sqlite:
            let folder = try TemporaryFolder()
            let store = try SQLiteStore(path: folder.path("store.db"))
            defer { store.close() }
            try await body(Stores(records: store, keys: store, audit: store))
            withExtendedLifetime(folder) {}
        case .postgresql:
            let server = try await PostgreSQLProcess.shared.value
            let address = server.address(of: try await server.database())
            let store = try await PostgreSQLStore.open(address, .patient, migrates: true)
            defer { store.close() }
            try await body(Stores(records: store, keys: store, audit: store))
        }
    }
}

extension PostgreSQLStore.Settings {
    static var patient: Self {
        var settings = Self()
        settings.recordLimit = .seconds(60)
        settings.keyLimit = .seconds(60)
        settings.pageLimit = .seconds(60)
        settings.openLimit = .seconds(60)
        return settings
    }
}

extension RecordStore {
    /// Changes a record as every caller does: reads, decides, writes, and begins again if somebody else wrote.
    func change(_ key: RecordKey, _ change: ([UInt8]?) -> [UInt8]) async throws {
        while true {
            let reading = try await read(key)
            let record = Record(version: reading.nextVersion, bytes: change(reading.record?.bytes))
            let end = reading.now + 3_600
            if try await write(record, at: key, replacing: reading.record?.version, until: end) { return }
        }
    }

    /// Writes a record that is not there.
    func put(_ name: String, _ bytes: [UInt8] = [1], ends: TimeInterval = 3_600, tenant: String = "acme") async throws
        -> Bool
    {
        let key = RecordKey(.account, tenant: tenant, name: name)
        let reading = try await read(key)
        return try await write(
            Record(version: reading.nextVersion, bytes: bytes), at: key, replacing: nil, until: reading.now + ends)
    }
}

/// The kind of the error that a body throws; `nil` if it throws none.
func errorKind(of body: () async throws -> Void) async -> StoreError.Kind? {
    do { try await body() } catch { return (error as? StoreError)?.kind }
    return nil
}
