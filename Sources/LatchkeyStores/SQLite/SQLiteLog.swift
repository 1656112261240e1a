import Foundation
import LatchkeyCore
import LatchkeySystem

/// Prevents a copy of a file in use from being taken for the whole: new changes are in the log next to it, `-wal`.
///
/// Each time before the log is brought into the file, a number in it rises, in two tables; afterwards, in the log again, a second
/// number follows it. So a reader of the file with its log, such as `sqlite3` for a backup, finds all of them equal, except for the moment
/// in between. A copy of the file alone never does while a server has it open, nor does a copy of file and log at different times. A server
/// that ends, or is killed, leaves them equal.
///
/// Source: `Documentation/Server/Stores.md`.
struct SQLiteLog: Sendable {
    private let pages: Int32
    /// The number of pages from which the log is brought into the file.
    private let limit: Locked<Int32>

    /// - Parameter pages: the length at which the log is brought into the file. Defaults to 16,384 pages, 64 MiB.
    init(pages: Int32 = 16_384) {
        self.pages = pages
        limit = Locked(pages)
    }

    /// Checks that a file has its log, before anything is written.
    /// - Parameters:
    ///   - connection: the file, open.
    ///   - path: the file's path.
    /// - Throws: `storeDamaged` for a file copied without its log, or with a log of another time.
    static func check(_ connection: SQLiteConnection, at path: String) throws(StoreError) {
        // Tables of an earlier version, without these numbers.
        guard try connection.number("PRAGMA user_version") >= 3 else { return }
        let numbers = try connection.rows("SELECT began, goes_on, number FROM log, log_before") {
            row throws(StoreError) in
            (began: try row.integer(0), goesOn: try row.integer(1), before: try row.integer(2))
        }.first
        guard let numbers, numbers.began == numbers.before, numbers.began >= numbers.goesOn else {
            throw .sqliteCopy(
                "The file and its -wal log do not match: they were copied while a server was writing.")
        }
        // A process was killed while it brought the log into the file, or another one is doing so now: then there is a log.
        guard numbers.began == numbers.goesOn || hasLog(path) else {
            throw .sqliteCopy(
                "The file was copied without its -wal log while a server had it open: the latest changes are missing."
            )
        }
    }

    /// Begins: from now on a copy of the file alone is recognized.
    func begin(_ connection: SQLiteConnection) {
        connection.followLog()
        bring(connection)
    }

    /// Brings the log into the file if it has grown long.
    func bringIfLong(_ connection: SQLiteConnection) {
        guard connection.logPages >= limit.withLock({ $0 }) else { return }
        bring(connection)
    }

    /// Makes the numbers equal, so that the log may end with the last connection.
    func end(_ connection: SQLiteConnection) {
        // If the disk is full, the next start says what to do.
        _ = try? connection.run("UPDATE log SET goes_on = began WHERE goes_on <> began")
    }

    private func bring(_ connection: SQLiteConnection) {
        do throws(StoreError) {
            try connection.run("BEGIN IMMEDIATE")
            try connection.run("UPDATE log SET began = began + 1")
            try connection.run("UPDATE log_before SET number = (SELECT began FROM log)")
            try connection.run("COMMIT")
            let isWhole = try connection.rows("PRAGMA wal_checkpoint(PASSIVE)") { row throws(StoreError) in
                let (isBusy, pages, brought) = (try row.integer(0), try row.integer(1), try row.integer(2))
                return isBusy == 0 && pages == brought
            }.first
            // If a reader is in the way, the log stays, and the next try waits until it has grown.
            let next = isWhole == true ? pages : max(pages, connection.logPages + pages / 4)
            limit.withLock { $0 = next }
        } catch {
            // A full disk, for example: later writes fail and report it, and the next long log tries again.
            if !connection.isOutsideTransaction { _ = try? connection.run("ROLLBACK") }
        }
        end(connection)
    }

    private static func hasLog(_ path: String) -> Bool {
        var facts = stat()
        return stat(path + "-wal", &facts) == 0 && facts.st_size > 0
    }
}

extension StoreError {
    fileprivate static func sqliteCopy(_ reason: String) -> Self {
        StoreError(
            .damaged, SQLiteStore.name, reason: reason,
            remedy:
                "Restore a copy that sqlite3 made with .backup or VACUUM INTO. Documentation/Server/Backup.md describes how to continue with this one."
        )
    }
}
