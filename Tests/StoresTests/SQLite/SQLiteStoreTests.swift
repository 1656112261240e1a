import CSQLite
import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores

@Suite(.timeLimit(.minutes(5))) struct SQLiteStoreTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("store.db")
    }

    private func run(_ script: String) throws {
        var handle: OpaquePointer?
        #expect(sqlite3_open(path, &handle) == SQLITE_OK)
        // A store that was just released may still close the file.
        sqlite3_busy_timeout(handle, 60_000)
        #expect(sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(handle)
    }

    @Test func `only the owner can read the file and its log, and data is read back`() async throws {
        let store = try SQLiteStore(path: path)
        #expect(try await store.put("anna", [1, 2]))
        #expect(folder.mode("store.db") == 0o600)
        #expect(folder.mode("store.db-wal") == 0o600)
        store.close()
        let again = try SQLiteStore(path: path)
        #expect(try await again.read(RecordKey(.account, tenant: "acme", name: "anna")).record?.bytes == [1, 2])
    }

    @Test func `a file readable by others is refused`() throws {
        _ = try SQLiteStore(path: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.reason.contains("640") == true)
    }

    @Test func `another program's database stays unchanged`() throws {
        try run("CREATE TABLE notes (text)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let before = folder.contents("store.db")
        #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(folder.contents("store.db") == before)
    }

    @Test func `an invalid database file is damaged`() throws {
        try folder.write(String(repeating: "no database ", count: 1_000), to: "store.db")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(error?.kind == .damaged)
    }

    @Test func `a newer schema is refused with both numbers`() throws {
        _ = try SQLiteStore(path: path)
        try run("PRAGMA user_version = 99")
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(error?.kind == .damaged)
        #expect(error?.reason.contains("99") == true)
    }

    private func makeVersion1() throws {
        try run(FormerSchemas.sqlite1 + FormerSchemas.sqlite1Numbers)
        try run(
            """
            INSERT INTO keys VALUES ('acme', x'00000000000000000000000000000001', x'66', 'ALL', '', '[]', 'cbcs', '[]', 1,
            x'01', x'02', 0, 0)
            """)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test func `a version 1 file is upgraded and keeps its rows`() async throws {
        try makeVersion1()
        let store = try SQLiteStore(path: path)
        #expect(try await store.count(of: "acme") == 1)
        let fingerprint = try #require(try await store.fingerprint())
        let kid = try #require(KeyID("00000000-0000-0000-0000-000000000001"))
        #expect(try await store.remove(try #require(try await store.rows([kid], of: "acme").first).sealed))
        let former = try await store.reader.read { connection throws(StoreError) in
            try connection.number("SELECT count(*) FROM former_keys WHERE sealed = x'02'")
        }
        #expect(former == 1)
        store.close()
        #expect(try await SQLiteStore(path: path).fingerprint() == fingerprint)
    }

    @Test func `records of a version without a count are scanned, up to a limit, until written`()
        async throws
    {
        try makeVersion1()
        let end = StoredTime.microseconds(Date() + 600)
        for name in ["anna", "bert", "carl"] {
            try run("INSERT INTO records VALUES ('acme', 'account', CAST('\(name)' AS BLOB), 1, \(end), x'0101')")
        }
        let store = try SQLiteStore(path: path)
        let ends: @Sendable ([UInt8]) -> [Date] = { $0.map { _ in Date() + 600 } }
        try await store.putCounting("carl", [600])
        try await store.putCounting("dora", [600])
        #expect(try await store.count(of: .account, "acme", most: 2, ends) == RecordCount(6, isWhole: true))
        #expect(try await store.count(of: .account, "acme", most: 1, ends) == RecordCount(4, isWhole: false))
        for name in ["anna", "bert"] { try await store.putCounting(name, []) }
        #expect(try await store.counted() == RecordCount(2, isWhole: true))
        store.close()
    }

    @Test func `ended records are no longer counted and are deleted`() async throws {
        let time = ManualTimekeeper()
        let store = try SQLiteStore(path: path, timekeeper: time)
        for number in 0..<100 { try await store.putCounting("old-\(number)", [TimeInterval(number + 1)]) }
        time.advance(by: .seconds(60))
        #expect(try await store.counted() == RecordCount(40, isWhole: true))
        time.advance(by: .seconds(8_000))
        for number in 0..<300 { #expect(try await store.put("new-\(number)")) }
        let left = try await store.reader.read { connection throws(StoreError) in
            try connection.number("SELECT count(*) FROM counts")
        }
        #expect(left == 0)
    }

    @Test func `a check reads a version 1 file without changing it`() async throws {
        try makeVersion1()
        let before = folder.contents("store.db")
        let store = try SQLiteStore(path: path, for: .checking)
        #expect(try await store.count(of: "acme") == 1)
        #expect(try await store.fingerprint() == nil)
        store.close()
        #expect(folder.contents("store.db") == before)
        _ = try SQLiteStore(path: path)
    }

    @Test func `a check finds a missing file empty and creates none`() async throws {
        let stores = try await Stores.open(.sqlite(path: path), for: .checking)
        #expect(try await stores.keys?.dataKeys().isEmpty == true)
        #expect(try await stores.audit?.last() == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: StoreError.self) { try SQLiteStore(path: path, for: .checking) }
    }

    @Test(arguments: ["/nowhere/store.db", "/"])
    func `a path that cannot be opened is a configuration fault`(_ path: String) {
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(error?.kind == .misconfigured)
    }

    @Test func `opening a file again keeps the locks on it`() throws {
        // SQLite keeps one for as long as a connection is open; without it another process removes the log that is still in use.
        func locks() throws -> [Substring] {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            let inode = try #require(facts[.systemFileNumber] as? Int)
            let all = try String(contentsOfFile: "/proc/locks", encoding: .utf8)
            return all.split(separator: "\n").filter { $0.contains(":\(inode) ") }.map { $0.drop { $0 != " " } }
        }
        let store = try SQLiteStore(path: path)
        let before = try locks()
        #expect(!before.isEmpty)
        let again = try SQLiteStore(path: path)
        #expect(try locks() == before)
        withExtendedLifetime((store, again)) {}
    }

    @Test func `two stores open and share one new file in parallel`() async throws {
        let path = path
        let stores = try await withThrowingTaskGroup(of: SQLiteStore.self) { group in
            for _ in 0..<4 { group.addTask { try SQLiteStore(path: path) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let key = RecordKey(.account, tenant: "acme", name: "anna")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask { for _ in 0..<50 { try await store.change(key) { [UInt8](($0 ?? []) + [1]) } } }
            }
            try await group.waitForAll()
        }
        #expect(try await stores.first?.read(key).record?.bytes.count == 200)
    }

    @Test func `ended records are deleted as others are written`() async throws {
        let time = ManualTimekeeper()
        let store = try SQLiteStore(path: path, timekeeper: time)
        for number in 0..<300 { #expect(try await store.put("old-\(number)", ends: 1)) }
        time.advance(by: .seconds(2))
        for number in 0..<300 { #expect(try await store.put("new-\(number)")) }
        let left = try await store.reader.read { connection throws(StoreError) in
            try connection.number("SELECT count(*) FROM records")
        }
        #expect(left == 300)
    }

    @Test func `a piece that fails does not affect its neighbors`() async throws {
        let store = try SQLiteStore(path: path)
        async let failing = errorKind {
            try await store.writer.write(.lazy) { connection throws(StoreError) in
                try connection.run("INSERT INTO audit VALUES (1, 'half', x'', x'')")
                throw StoreError(.full, "sqlite", reason: "A test.")
            }
        }
        async let good = store.put("anna")
        let outcome = try await (kind: failing, isPut: good)
        #expect(outcome == (.full, true))
        #expect(try await store.last() == nil)
        #expect(try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 10).count == 1)
    }

    @Test func `the audit rejects changes with an error`() async throws {
        let store = try SQLiteStore(path: path)
        #expect(try await store.append(AuditEntry(sequence: 1, text: "{}", previous: [], hash: [])))
        for sql in ["UPDATE audit SET text = ''", "DELETE FROM audit"] {
            await #expect(throws: StoreError.self) {
                try await store.writer.write(.full) { connection throws(StoreError) in _ = try connection.run(sql) }
            }
        }
        #expect(try await store.last()?.text == "{}")
    }

    @Test func `a closed store is unavailable`() async throws {
        let store = try SQLiteStore(path: path)
        store.close()
        let error = await #expect(throws: StoreError.self) { try await store.put("anna") }
        #expect(error?.kind == .unavailable)
    }
}
