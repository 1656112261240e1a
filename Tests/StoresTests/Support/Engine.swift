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

extension RecordStore {
    /// Checks sums over more records than a page has.
    func checkSums() async throws {
        let count = StoreLimits.pageRows + 500
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count { group.addTask { try await put("name-\(number)", [1, UInt8(number % 7)]) } }
            for try await isNew in group { #expect(isNew) }
        }
        #expect(try await put("ended", [1], ends: -0.001))
        #expect(try await put("stranger", [1], tenant: "acme2"))
        #expect(try await put("stranger", [1], tenant: "acm"))
        #expect(try await self.sum(of: .account, "acme", most: .max) { _ in 1 } == RecordSum(count, isWhole: true))
        let bytes = (0..<count).reduce(0) { $0 + 1 + $1 % 7 }
        let sum = try await self.sum(of: .account, "acme", most: .max) { $0.reduce(0) { $0 + Int($1) } }
        #expect(sum == RecordSum(bytes, isWhole: true))
        #expect(try await self.sum(of: .account, "other", most: .max) { _ in 1 }.value == 0)
        #expect(try await self.sum(of: .token, "acme", most: .max) { _ in 1 }.value == 0)
        // About the most: what comes with one answer counts as a whole. What is not all says so.
        let some = try await self.sum(of: .account, "acme", most: 10) { _ in 1 }
        #expect(1...count ~= some.value)
        #expect(some.isWhole == (some.value == count))
    }
}

/// The kind of the error that a body throws; `nil` if it throws none.
func errorKind(of body: () async throws -> Void) async -> StoreError.Kind? {
    do { try await body() } catch { return (error as? StoreError)?.kind }
    return nil
}
