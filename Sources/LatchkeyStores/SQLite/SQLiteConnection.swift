import CSQLite
import Foundation
import LatchkeyCore
import LatchkeySystem

/// A value for a statement.
enum SQLiteValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    static func date(_ date: Date) -> Self { .integer(StoredTime.microseconds(date)) }
    static func flag(_ flag: Bool) -> Self { .integer(flag ? 1 : 0) }
    static func version(_ version: UInt32) -> Self { .integer(Int64(version)) }
}

/// One connection of SQLite with its prepared statements, which stay prepared. Belongs to one thread.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    private var isOpen = true
    /// Where SQLite stores the number of pages of the log; lives as long as the connection.
    private let pagesOfLog = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// Opens a file.
    /// - Parameters:
    ///   - path: the file's path. `SQLiteFile` has made it.
    ///   - busy: how long to wait for another process's lock.
    ///   - purpose: whether the file and its folder may be changed. Defaults to yes.
    /// - Throws: `StoreError`.
    init(path: String, busy: Duration, for purpose: StorePurpose = .serving) throws(StoreError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        let code =
            switch purpose {
            case .serving: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READWRITE, nil)
            case .checking:
                sqlite3_open_v2(SQLiteFile.readOnly(path), &opened, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
            }
        pagesOfLog.initialize(to: 0)
        guard code == SQLITE_OK, let opened else {
            pagesOfLog.deallocate()
            // There is a handle even after an error, unless memory is exhausted.
            sqlite3_close_v2(opened)
            throw StoreError.sqlite(code)
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Int32(clamping: Int(busy.inMilliseconds)))
    }

    deinit {
        close()
        pagesOfLog.deallocate()
    }

    /// Keeps this connection from changing the log when it closes.
    func leaveLog() { _ = latchkey_sqlite_leave_log(handle) }

    /// Follows the length of the log from now on. The log is then brought into the file only on request.
    func followLog() {
        // Called on the thread of the connection, during one of its calls.
        sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                pages?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, pagesOfLog)
    }

    /// The number of pages of the log after the last change of this connection, once `followLog()` was called.
    var logPages: Int32 { pagesOfLog.pointee }

    /// Closes the file; the last connection brings its log into it. The connection must not be used afterwards.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Whether no transaction is open. After some errors SQLite has rolled it back automatically.
    var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// Runs a statement to its end.
    /// - Returns: the number of changed rows, if the statement changes rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLiteValue] = []) throws(StoreError) -> Int {
        let statement = try bound(sql, values)
        defer { sqlite3_reset(statement) }
        while try step(statement) {}
        return Int(sqlite3_changes(handle))
    }

    /// Runs a statement and reads its rows.
    func rows<Row>(
        _ sql: String, _ values: [SQLiteValue] = [], _ read: (SQLiteRow) throws(StoreError) -> Row
    ) throws(StoreError) -> [Row] {
        let statement = try bound(sql, values)
        defer { sqlite3_reset(statement) }
        var rows: [Row] = []
        while try step(statement) { rows.append(try read(SQLiteRow(statement: statement))) }
        return rows
    }

    /// A statement's number; 0 without a row.
    func number(_ sql: String, _ values: [SQLiteValue] = []) throws(StoreError) -> Int64 {
        try rows(sql, values) { row throws(StoreError) in try row.integer(0) }.first ?? 0
    }

    /// Runs one of our scripts, statement by statement, without keeping them.
    func execute(_ script: String) throws(StoreError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreError.sqlite(code) }
    }

    /// - Returns: whether there is a row.
    private func step(_ statement: OpaquePointer) throws(StoreError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw StoreError.sqlite(code)
        }
    }

    private func bound(_ sql: String, _ values: [SQLiteValue]) throws(StoreError) -> OpaquePointer {
        let statement = try prepared(sql)
        for (index, value) in zip(Int32(1)..., values) {
            let code = bind(value, statement, index)
            guard code == SQLITE_OK else { throw StoreError.sqlite(code) }
        }
        return statement
    }

    private func bind(_ value: SQLiteValue, _ statement: OpaquePointer, _ index: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .text(let text):
            latchkey_sqlite_bind_text(statement, index, text, Int32(clamping: text.utf8.count))
        case .bytes(let bytes):
            latchkey_sqlite_bind_blob(statement, index, bytes, Int32(clamping: bytes.count))
        }
    }

    private func prepared(_ sql: String) throws(StoreError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw StoreError.sqlite(code) }
        statements[sql] = statement
        return statement
    }
}

/// A statement's current row; valid until its next step.
struct SQLiteRow: StoredRow {
    fileprivate let statement: OpaquePointer

    var engine: String { SQLiteStore.name }

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }

    func bytes(_ column: Int) throws(StoreError) -> [UInt8] {
        // The order matters: the call for the bytes may convert them.
        let start = sqlite3_column_blob(statement, Int32(column))
        let count = sqlite3_column_bytes(statement, Int32(column))
        return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count)))
    }

    func integer(_ column: Int) throws(StoreError) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

    func date(_ column: Int) throws(StoreError) -> Date { StoredTime.date(microseconds: try integer(column)) }

    func flag(_ column: Int) throws(StoreError) -> Bool { try integer(column) != 0 }
}

extension StoreError {
    /// The meaning of a result code. SQLite's own message may quote values, so it is not repeated.
    static func sqlite(_ code: Int32) -> Self {
        let words = String(cString: sqlite3_errstr(code))
        guard code & 0xff != SQLITE_BUSY else {
            return StoreError(
                .unavailable, SQLiteStore.name,
                reason: "Another program holds the file's lock. (SQLite \(code): \(words))",
                remedy: "Find the program with fuser, and stop it, or wait until it is done.")
        }
        let reason = "SQLite answered \(code): \(words)."
        let kind: Kind =
            switch code & 0xff {
            case SQLITE_FULL: .full
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT:
                .damaged
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: .misconfigured
            case SQLITE_TOOBIG: .unfit
            default: .unavailable
            }
        return StoreError(kind, SQLiteStore.name, reason: reason)
    }
}
