import CPostgreSQL
import Foundation
import LatchkeyCore
import LatchkeySystem

/// A connection that copies rows. Blocks its thread, but never beyond a deadline. Belongs to one thread.
///
/// The other connections run in libpq's pipeline mode, in which there is no COPY.
///
/// Source: PostgreSQL 15 documentation, §34.5 (pipeline mode) and §34.10 (COPY), looked at on 2026-11-27.
final class PostgreSQLCopy {
    private let handle: OpaquePointer
    private var deadline: ContinuousClock.Instant

    /// Connects to the first host that takes changes.
    /// - Throws: `StoreError`.
    static func connect(_ hosts: PostgreSQLHosts, within limit: Duration) throws(StoreError) -> PostgreSQLCopy {
        var last = StoreError(.unavailable, PostgreSQLStore.name, reason: "Memory for a connection is exhausted.")
        for parameters in hosts.parameters {
            guard let connection = PostgreSQLConnection(parameters, isPipelined: false) else { throw last }
            do throws(StoreError) {
                return try PostgreSQLCopy(connection, .now + hosts.connectLimit, limit)
            } catch {
                last = error
            }
        }
        throw last
    }

    private let connection: PostgreSQLConnection

    private init(
        _ connection: PostgreSQLConnection, _ end: ContinuousClock.Instant, _ limit: Duration
    ) throws(StoreError) {
        (self.connection, handle, deadline) = (connection, connection.handle, .now + limit)
        var wanted = Int32(POLLOUT)
        while true {
            try Self.wait(connection.socket, wanted, until: end)
            switch connection.advance() {
            case .reads: wanted = Int32(POLLIN)
            case .writes: wanted = Int32(POLLOUT)
            case .failed: throw connection.connectError
            case .isUp:
                guard connection.isUTF8 else {
                    throw StoreError(
                        .misconfigured, PostgreSQLStore.name, reason: "The database does not keep text as UTF-8.",
                        remedy: "Create the database with ENCODING 'UTF8'.")
                }
                return
            }
        }
    }

    /// Sets the deadline of the next steps.
    func begin(within limit: Duration) { deadline = .now + limit }

    /// Runs a statement with texts.
    /// - Returns: the first field of the first row, as text; `nil` without one.
    /// - Throws: `StoreError`; then the connection is no longer usable.
    @discardableResult
    func run(_ sql: String, _ values: [String] = []) throws(StoreError) -> String? {
        let texts = values.map { strdup($0) }
        defer { for text in texts { free(text) } }
        let sent =
            values.isEmpty
            ? PQsendQuery(handle, sql)
            : PQsendQueryParams(
                handle, sql, Int32(values.count), nil, texts.map { UnsafePointer($0) }, nil, nil, 0)
        guard sent == 1 else { throw PostgreSQLFailure("").error }
        return try result()
    }

    /// Copies lines in COPY's text form.
    /// - Throws: `StoreError`; then the connection is no longer usable.
    func copy(_ sql: String, _ bytes: [UInt8]) throws(StoreError) {
        guard PQsendQuery(handle, sql) == 1 else { throw PostgreSQLFailure("").error }
        let begun = try next()
        defer { PQclear(begun) }
        guard PQresultStatus(begun) == PGRES_COPY_IN else { throw failure(begun) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 << 16)
            let state = piece.withUnsafeBytes {
                PQputCopyData(handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count))
            }
            guard state >= 0 else { throw PostgreSQLFailure("").error }
            if state == 1 { rest = rest.dropFirst(piece.count) }
            try flush()
        }
        while true {
            let state = PQputCopyEnd(handle, nil)
            guard state >= 0 else { throw PostgreSQLFailure("").error }
            if state == 1 { break }
            try Self.wait(socket, Int32(POLLOUT), until: deadline)
        }
        try result()
    }

    private var socket: Int32 { PQsocket(handle) }

    /// Reads all results of a statement.
    @discardableResult
    private func result() throws(StoreError) -> String? {
        var (text, problem) = (String?.none, StoreError?.none)
        while let result = try next() {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK:
                if PQntuples(result) > 0, PQgetisnull(result, 0, 0) == 0, let value = PQgetvalue(result, 0, 0) {
                    text = String(cString: value)
                }
            case PGRES_COMMAND_OK: break
            default: problem = problem ?? failure(result)
            }
        }
        if let problem { throw problem }
        return text
    }

    private func next() throws(StoreError) -> OpaquePointer? {
        try flush()
        while PQisBusy(handle) == 1 {
            try Self.wait(socket, Int32(POLLIN), until: deadline)
            guard PQconsumeInput(handle) == 1 else { throw PostgreSQLFailure("").error }
        }
        return PQgetResult(handle)
    }

    private func flush() throws(StoreError) {
        while true {
            let state = PQflush(handle)
            guard state >= 0 else { throw PostgreSQLFailure("").error }
            guard state == 1 else { return }
            try Self.wait(socket, Int32(POLLOUT), until: deadline)
            guard PQconsumeInput(handle) == 1 else { throw PostgreSQLFailure("").error }
        }
    }

    private func failure(_ result: OpaquePointer?) -> StoreError {
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        return PostgreSQLFailure(state ?? "").error
    }

    private static func wait(
        _ socket: Int32, _ events: Int32, until end: ContinuousClock.Instant
    ) throws(StoreError) {
        while true {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { throw .late }
            // The server's messages are read while the connection takes no more data.
            var polled = pollfd(fd: socket, events: Int16(events) | Int16(POLLIN), revents: 0)
            let count = poll(&polled, 1, Int32(clamping: Int(left.inMilliseconds.rounded(.up))))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw PostgreSQLFailure("").error }
        }
    }
}
