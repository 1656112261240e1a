import Foundation
package import LatchkeyCore
package import LatchkeySystem
import LatchkeyVault

/// Records, keys and the audit of one node in one file.
///
/// Three connections with a thread each: one for all writes, because SQLite has one writer; one for short reads; one for the slow pages
/// and counts. The clock is the machine's.
///
/// Source: `Documentation/Server/Stores.md`.
package final class SQLiteStore: RecordStore, KeyStore, AuditStore {
    static let name = "sqlite"

    /// How long to wait for another program's lock.
    package static let patience = Duration.seconds(5)

    /// How many writes of records there are between two looks for ended ones, and how many are forgotten each time.
    private static let sweep = 256

    package let engine = SQLiteStore.name
    package let reach = EngineReach.disk
    let writer: SQLiteLane
    let reader: SQLiteLane
    let pages: SQLiteLane
    let timekeeper: any Timekeeper
    private let writes = Locked(0)

    /// Opens a file, creates it with mode 0600 if needed, and adds missing tables.
    /// - Parameters:
    ///   - path: the file, in an existing folder.
    ///   - busy: how long to wait for another process's lock. Defaults to 5 s.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - purpose: whether a missing file and missing tables are made. Defaults to yes.
    /// - Throws: `storeMisconfigured` for a file that cannot be opened or that others can read, `storeDamaged` for another program's file,
    ///   for a newer schema, and for a file that was copied while in use.
    package init(
        path: String, busy: Duration = patience, timekeeper: any Timekeeper = SystemTimekeeper(),
        for purpose: StorePurpose = .serving
    ) throws(StoreError) {
        try SQLiteFile.prepare(path, for: purpose)
        let first = try SQLiteConnection(path: path, busy: busy, for: purpose)
        let schema = SQLiteSchema.store
        try schema.check(first)
        try SQLiteLog.check(first, at: path)
        let log = purpose == .serving ? SQLiteLog() : nil
        if purpose == .serving { try schema.migrate(first) }
        try Self.tune(first)
        log?.begin(first)
        writer = SQLiteLane(first, name: "writer", log: log)
        let second = try SQLiteConnection(path: path, busy: busy, for: purpose)
        try Self.tune(second)
        reader = SQLiteLane(second, name: "reader")
        let third = try SQLiteConnection(path: path, busy: busy, for: purpose)
        try Self.tune(third)
        pages = SQLiteLane(third, name: "pages")
        self.timekeeper = timekeeper
    }

    /// Ends the threads after the waiting work.
    package func close() {
        for lane in [writer, reader, pages] { lane.close() }
    }

    /// Ends the threads, and waits until the file is closed: it then needs no log.
    package func closed() async {
        // The writer last: if connections close at the same time, none of them may bring the log into the file.
        for lane in [reader, pages] { lane.close() }
        for lane in [reader, pages] { await lane.ended() }
        writer.close()
        await writer.ended()
    }

    /// Does a kind of work in a form that changes nothing: a write brings the file's first page to the disk again, unchanged.
    /// - Throws: the errors of the work.
    package func probe(_ operation: EngineOperation) async throws(StoreError) {
        guard operation == .write else {
            _ = try await hasTables()
            return
        }
        try await writer.write(.full) { connection throws(StoreError) in
            try connection.execute("PRAGMA user_version = \(connection.number("PRAGMA user_version"))")
        }
    }

    /// Whether the file has any tables. A copy without its log has none.
    func hasTables() async throws(StoreError) -> Bool {
        try await reader.read { connection throws(StoreError) in try connection.number("PRAGMA user_version") > 0 }
    }

    /// Whether it is time to forget some ended records.
    func isSweepDue() -> Bool {
        writes.withLock { writes in
            writes = (writes + 1) % Self.sweep
            return writes == 0
        }
    }

    static func forgetEnded(_ connection: SQLiteConnection, at now: Date) throws(StoreError) {
        try connection.run(
            "DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE ends <= ?1 LIMIT ?2)",
            [.date(now), .integer(Int64(sweep * 2))])
        try connection.forgetCounts(before: now)
    }

    private static func tune(_ connection: SQLiteConnection) throws(StoreError) {
        // Kids are random, so many keys touch many pages: a longer log, as `SQLiteLog` allows, writes each page into the file less often.
        try connection.execute(
            """
            PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 67108864;
            PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON
            """)
    }
}

/// The file itself.
enum SQLiteFile {
    /// Held until a new file is closed, so that nothing else in this process has opened it by then.
    private static let making = NSLock()

    /// Checks that the file could be created.
    static func checkFolder(of path: String) throws(StoreError) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard access(folder, W_OK | X_OK) == 0 else { throw unopened(errno) }
    }

    private static func unopened(_ code: Int32) -> StoreError {
        StoreError(
            .misconfigured, SQLiteStore.name, reason: "The file cannot be opened: \(String(cString: strerror(code))).",
            remedy: "Check the path, and that the server's user can read and change the file and its folder.")
    }

    /// The file's address for SQLite, by which it changes neither the file nor its folder.
    ///
    /// Without a log the file is not open anywhere, and SQLite would make a log and an index to read it. With one it is read together
    /// with the log, through the existing index.
    static func readOnly(_ path: String) -> String {
        var plain = CharacterSet.urlPathAllowed
        plain.remove(charactersIn: "?#%;")
        let escaped = path.addingPercentEncoding(withAllowedCharacters: plain) ?? path
        let isAtRest = access(path + "-wal", F_OK) != 0
        return "file:\(escaped)?mode=ro\(isAtRest ? "&immutable=1" : "")"
    }

    /// Checks that a server could change the file and write next to it.
    private static func checkRights(_ path: String) throws(StoreError) {
        for file in [path, path + "-wal", path + "-shm"] where access(file, F_OK) == 0 {
            guard access(file, R_OK | W_OK) == 0 else { throw unopened(errno) }
        }
        // The log needs its index; creating it would change the folder.
        if access(path + "-wal", F_OK) == 0, access(path + "-shm", F_OK) != 0 {
            throw StoreError(
                .unavailable, SQLiteStore.name,
                reason:
                    "The file has a log without an index, as copies do: a check cannot read it without changing it.",
                remedy: "Start the server, which creates the index; or check again once it is running.")
        }
        try checkFolder(of: path)
    }

    /// Checks that the disk has room for changes.
    static func checkRoom(of path: String) throws(StoreError) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard let room = try? DiskRoom.megabytes(at: folder), room < DiskRoom.least else { return }
        throw StoreError(
            .full, SQLiteStore.name, reason: "The disk of the file has \(room) MB left, hardly enough for a change.",
            remedy: "Free space, or move the file to another disk.")
    }

    /// Checks that a change could begin, and makes none. Without a log, no program has the file open.
    static func checkLock(of path: String) throws(StoreError) {
        guard access(path + "-wal", F_OK) == 0 else { return }
        let connection = try SQLiteConnection(path: path, busy: SQLiteStore.patience)
        connection.leaveLog()
        try connection.execute("BEGIN IMMEDIATE; ROLLBACK")
    }

    /// Creates the file with mode 0600 if it is missing; SQLite gives its log the same mode.
    ///
    /// An existing file is not opened here: closing it would end the locks that SQLite holds for the whole process.
    static func prepare(_ path: String, for purpose: StorePurpose) throws(StoreError) {
        let code: Int32 = making.withLock {
            guard purpose == .serving else { return 0 }
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { return errno }
            Foundation.close(file)
            return 0
        }
        guard code == 0 || code == EEXIST else { throw unopened(code) }
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.misconfigured, SQLiteStore.name, reason: "The path is not a file.")
        }
        guard facts.st_mode & 0o077 == 0 else {
            throw StoreError(
                .misconfigured, SQLiteStore.name,
                reason: "Other users can read the file: its mode is \(String(facts.st_mode & 0o777, radix: 8)).",
                remedy: "Set its mode to 600, and that of its -wal and -shm files.")
        }
        if purpose == .checking { try checkRights(path) }
    }
}
