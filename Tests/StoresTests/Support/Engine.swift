import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyServerExamples
@testable import LatchkeyStores
@testable import StoreProcesses

/// The engines over which the contracts' suites run.
enum Engine: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case memory
    case sqlite
    case postgresql
    /// The example of a program's own store, as the server uses it.
    case program
    case redis
    /// Six real processes.
    case redisCluster
    /// Six real processes with TLS, where each client shows a certificate, and a user whose name and password are in files.
    case redisClusterTLS

    private static let ofRedis: [Engine] = [.redis, .redisCluster, .redisClusterTLS]

    var testDescription: String { rawValue }

    private static let installed = allCases.filter { engine in
        (engine != .postgresql || PostgreSQLProcess.programs != nil)
            && (!ofRedis.contains(engine) || RedisProcess.isInstalled)
    }
    /// The engines of records.
    static let ofRecords = installed
    /// The engines of keys and the audit. The memory's have their own suites in the server's tests.
    static let ofKeys = installed.filter { $0 == .sqlite || $0 == .postgresql }

    /// Opens a new, empty store for a body, with limits that a busy machine keeps.
    func open(_ body: (Stores) async throws -> Void) async throws {
        switch self {
        case .memory: try await body(Stores(records: MemoryRecordStore()))
        case .program:
            let limits = RecordStoreLimits(time: .seconds(60))
            try await body(
                Stores(records: GuardedRecordStore(DictionaryStore(), for: .sessionStore, limits) { _ in }))
        case .redis:
            let redis = try await RedisProcess()
            try await body(Stores(records: redis.store()))
        case .redisCluster:
            try await SharedCluster.plain.with { try await body(Stores(records: $0)) }
        case .redisClusterTLS:
            try await SharedCluster.tls.with { try await body(Stores(records: $0)) }
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

extension RecordStore {
    /// Changes a record as every caller does: reads, decides, writes, and begins again if another write came first.
    func change(_ key: RecordKey, _ change: ([UInt8]?) -> [UInt8]) async throws {
        while true {
            let reading = try await read(key)
            let record = Record(version: reading.nextVersion, bytes: change(reading.record?.bytes))
            let end = reading.now + 3_600
            if try await write(record, at: key, replacing: reading.record?.version, until: end) { return }
        }
    }

    /// Writes a new record.
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
    /// Writes a record with things that end after so many seconds, in place of the existing one.
    func putCounting(_ name: String, _ seconds: [TimeInterval], ends: TimeInterval = 3_600, tenant: String = "acme")
        async throws
    {
        let key = RecordKey(.account, tenant: tenant, name: name)
        let reading = try await read(key)
        let isWritten = try await write(
            Record(version: reading.nextVersion, bytes: [1]), at: key, replacing: reading.record?.version,
            until: reading.now + ends, counting: seconds.map { reading.now + $0 })
        #expect(isWritten)
    }

    /// The count, without a look at bytes.
    func counted(_ tenant: String = "acme") async throws -> RecordCount {
        try await count(of: .account, tenant, most: 0) { _ in
            Issue.record("A record is looked at.")
            return []
        }
    }

    /// Checks counts over more records than a page has.
    func checkCounts() async throws {
        let count = StoreLimits.pageRows + 500
        _ = try await counted()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await putCounting("name-\(number)", (0..<number % 4).map { 600 + 60 * TimeInterval($0) })
                }
            }
            try await group.waitForAll()
        }
        try await putCounting("ended", [-5, -3_600], ends: 0.001)
        for tenant in ["acme2", "acm"] { try await putCounting("stranger", [60], tenant: tenant) }
        _ = try await put("plain")
        #expect(
            try await write(
                Record(version: 1, bytes: []), at: RecordKey(.token, tenant: "acme", name: "t"), replacing: nil,
                until: Date() + 60))
        var expected = (0..<count).reduce(0) { $0 + $1 % 4 }
        #expect(try await counted() == RecordCount(expected, isWhole: true))
        let other = try await self.count(of: .account, "other", most: .max) { _ in [] }
        #expect(other == RecordCount(0, isWhole: true))
        #expect(try await self.count(of: .token, "acme", most: .max) { _ in [] }.value == 0)
        // Renewed, with more and with fewer; stopped; removed.
        try await putCounting("name-1", [700, 700, 900, 900, 900])
        try await putCounting("name-3", [800, -5])
        try await putCounting("name-2", [])
        let gone = RecordKey(.account, tenant: "acme", name: "name-7")
        #expect(try await remove(gone, version: #require(try await read(gone).record?.version)))
        expected += (5 - 1) + (1 - 3) - 2 - 3
        #expect(try await counted() == RecordCount(expected, isWhole: true))
        // A write that lost the race counts nothing.
        let key = RecordKey(.account, tenant: "acme", name: "name-1")
        let end = Date() + 600
        #expect(try await !write(Record(version: .max, bytes: []), at: key, replacing: 1, until: end, counting: [end]))
        #expect(
            try await !write(Record(version: .max, bytes: []), at: key, replacing: nil, until: end, counting: [end]))
        #expect(try await !remove(key, version: 1))
        #expect(try await counted() == RecordCount(expected, isWhole: true))
    }
}

/// The kind of the error that a body throws; `nil` if it throws none.
func errorKind(of body: () async throws -> Void) async -> StoreError.Kind? {
    do { try await body() } catch { return (error as? StoreError)?.kind }
    return nil
}
