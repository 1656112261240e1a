import CSQLite
import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores

/// Copies of a file that a server has open: which are whole, and that the others are refused.
@Suite(.timeLimit(.minutes(5))) struct SQLiteCopyTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("store.db") }

    init() throws { folder = try TemporaryFolder() }

    /// Copies a file next to the store to the same place next to the copy, as `cp` does.
    private func copy(_ suffix: String = "", to name: String = "copy.db") throws {
        let target = folder.path(name + suffix)
        try? FileManager.default.removeItem(atPath: target)
        try FileManager.default.copyItem(atPath: path + suffix, toPath: target)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
    }

    private func add(_ sequence: UInt64, to store: SQLiteStore) async throws {
        #expect(
            try await store.append(
                AuditEntry(sequence: sequence, text: "{}", previous: [UInt8](repeating: 0, count: 32), hash: [1])))
    }

    /// Brings the log of a store into its file, as a long log is.
    private func bringLog(of store: SQLiteStore) async throws {
        try await store.writer.read { connection throws(StoreError) in SQLiteLog().begin(connection) }
    }

    @Test(arguments: [StorePurpose.serving, .checking])
    func `a copy of only the file, made while a server has it open, is refused by name`(_ purpose: StorePurpose)
        async throws
    {
        let store = try SQLiteStore(path: path)
        try await add(1, to: store)
        try copy()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try SQLiteStore(path: folder.path("copy.db"), for: purpose) }
            #expect(error?.kind == .damaged)
            #expect(error?.reason.contains("without its -wal log") == true)
            #expect(error?.remedy.contains(".backup") == true)
        }
        // Also after the log was brought into it, and something came after that.
        try await bringLog(of: store)
        try copy()
        #expect(throws: StoreError.self) { try SQLiteStore(path: folder.path("copy.db"), for: purpose) }
        store.close()
    }

    @Test func `a copy by SQLite, and one of a file at rest, are complete and usable`() async throws {
        let store = try SQLiteStore(path: path)
        try await add(1, to: store)
        let target = folder.path("vacuum.db")
        _ = try await store.pages.read { connection throws(StoreError) in
            try connection.run("VACUUM INTO ?1", [.text(target)])
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
        try await add(2, to: store)
        try backUp(to: folder.path("backup.db"))
        await store.closed()
        try copy()
        for (name, entries) in [("vacuum.db", 1), ("backup.db", 2), ("copy.db", 2)] {
            let copied = try SQLiteStore(path: folder.path(name))
            #expect(try await copied.last()?.sequence == UInt64(entries), "\(name)")
            await copied.closed()
            // And again, now that a server had it.
            await (try SQLiteStore(path: folder.path(name), for: .checking)).closed()
        }
    }

    /// Copies the way `.backup` does, from a separate connection.
    private func backUp(to target: String) throws {
        var (source, copy): (OpaquePointer?, OpaquePointer?)
        try #require(sqlite3_open(path, &source) == SQLITE_OK && sqlite3_open(target, &copy) == SQLITE_OK)
        let backup = sqlite3_backup_init(copy, "main", source, "main")
        while sqlite3_backup_step(backup, 5) == SQLITE_OK {}
        try #require(sqlite3_backup_finish(backup) == SQLITE_OK)
        sqlite3_close(copy)
        sqlite3_close(source)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
    }

    @Test func `no copy of the file alone is accepted while writes continue`() async throws {
        let store = try SQLiteStore(path: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    var number = 0
                    while !Task.isCancelled {
                        _ = try await store.put("\(writer)-\(number)", [UInt8](repeating: 7, count: 500))
                        number += 1
                        if number % 20 == 0 { try await bringLog(of: store) }
                    }
                }
            }
            for number in 0..<60 {
                let name = "copy-\(number).db"
                try copy(to: name)
                #expect(throws: StoreError.self) { try SQLiteStore(path: folder.path(name), for: .checking) }
                await Task.yield()
            }
            group.cancelAll()
        }
        store.close()
    }

    @Test func `a file and log from different times are refused, and from one moment are whole`() async throws {
        let store = try SQLiteStore(path: path)
        try await add(1, to: store)
        // There are no writes meanwhile.
        try copy(to: "both.db")
        try copy("-wal", to: "both.db")
        let both = try SQLiteStore(path: folder.path("both.db"))
        #expect(try await both.last()?.sequence == 1)
        both.close()
        try copy()
        try await bringLog(of: store)
        try await add(2, to: store)
        try copy("-wal")
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: folder.path("copy.db")) }
        #expect(error?.kind == .damaged && error?.reason.contains("-wal log do not match") == true)
        store.close()
    }

    @Test func `a process killed while moving the log into the file leaves a whole file`() async throws {
        let store = try SQLiteStore(path: path)
        try await add(1, to: store)
        try await store.writer.read { connection throws(StoreError) in
            try connection.execute(
                """
                BEGIN; UPDATE log SET began = began + 1; UPDATE log_before SET number = number + 1; COMMIT;
                PRAGMA wal_checkpoint(PASSIVE)
                """)
        }
        try copy(to: "killed.db")
        try copy("-wal", to: "killed.db")
        let killed = try SQLiteStore(path: folder.path("killed.db"))
        #expect(try await killed.last()?.sequence == 1)
        await killed.closed()
        #expect(try await SQLiteStore(path: folder.path("killed.db"), for: .checking).last()?.sequence == 1)
        store.close()
    }

    @Test func `a long log is moved into the file and starts again`() async throws {
        let store = try SQLiteStore(path: path)
        let log = SQLiteLog(pages: 40)
        func numbers() async throws -> (began: Int64, pages: Int32) {
            try await store.writer.read { connection throws(StoreError) in
                log.bringIfLong(connection)
                return (try connection.number("SELECT began FROM log"), connection.logPages)
            }
        }
        let first = try await numbers()
        var last = first
        var number = 0
        while last.began < first.began + 3 {
            #expect(try await store.put("\(number)", [UInt8](repeating: 7, count: 9_000)))
            number += 1
            last = try await numbers()
            #expect(last.pages < 200)
        }
        store.close()
    }

    @Test func `a file with inconsistent pages fails the check, by name`() async throws {
        let store = try SQLiteStore(path: path)
        _ = try await store.add((0..<500).map { SampleKeys.row($0) })
        await store.closed()
        let address = StoreAddress.sqlite(path: path)
        #expect(await Stores.findings(at: address, for: [.keys]).isEmpty)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let pages = try file.seekToEnd() / 4_096
        for page in stride(from: pages / 2, to: pages, by: 2) {
            try file.seek(toOffset: page * 4_096)
            try file.write(contentsOf: Data(repeating: 0x5a, count: 4_096))
        }
        try file.close()
        let found = await Stores.findings(at: address, for: [.keys])
        #expect(found.count == 1 && found.first?.isFault == true)
        #expect(found.first?.reason.hasPrefix("The file is damaged: ") == true, "\(found)")
        #expect(await Stores.findings(at: .sqlite(path: folder.path("none.db")), for: [.keys]).isEmpty)
    }
}
