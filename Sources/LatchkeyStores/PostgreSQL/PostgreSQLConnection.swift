import CPostgreSQL
import Foundation
import LatchkeyCore
import LatchkeySystem

/// One connection of libpq that never blocks. Belongs to one thread.
final class PostgreSQLConnection {
    enum Progress {
        case reads, writes, isUp
        case failed
    }

    /// The next message of the server.
    enum Event {
        case answer(PostgreSQLAnswer)
        case failure(PostgreSQLFailure)
        case statementEnd
        case sync
    }

    let handle: OpaquePointer
    private let isPipelined: Bool

    /// Begins to connect.
    /// - Parameter isPipelined: whether statements are sent without waiting for earlier answers; then there is no COPY. Defaults to yes.
    /// - Returns: `nil` if memory is exhausted.
    init?(_ parameters: [String: Secret], isPipelined: Bool = true) {
        let keywords = parameters.keys.sorted()
        let words = keywords.map { strdup($0) } + [nil]
        // Erased below: one of them may be a password.
        let values = keywords.map { strdup(parameters[$0]?.revealedText ?? "") } + [nil]
        defer {
            for value in values.compactMap(\.self) {
                erase(UnsafeMutableRawBufferPointer(start: value, count: strlen(value)))
            }
            for text in words + values { free(text) }
        }
        guard let handle = PQconnectStartParams(words.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
        else {
            return nil
        }
        (self.handle, self.isPipelined) = (handle, isPipelined)
        // Error messages then have the SQLSTATE and none of the server's words.
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    var socket: Int32 { PQsocket(handle) }

    /// Continues connecting, when the socket is ready.
    func advance() -> Progress {
        guard !hasFailed else { return .failed }
        let polled = PQconnectPoll(handle)
        if polled == PGRES_POLLING_READING { return .reads }
        if polled == PGRES_POLLING_WRITING { return .writes }
        guard polled == PGRES_POLLING_OK, PQsetnonblocking(handle, 1) == 0,
            !isPipelined || PQenterPipelineMode(handle) == 1
        else { return .failed }
        return .isUp
    }

    /// Whether connecting has failed, as it does immediately for a socket in the file system.
    var hasFailed: Bool { PQstatus(handle) == CONNECTION_BAD }

    /// Why connecting failed.
    var connectError: StoreError {
        let message = String(cString: PQerrorMessage(handle))
        // After this, libpq may say that the password was from a file.
        let words = message.split(whereSeparator: \.isWhitespace).drop { $0 != "FATAL:" && $0 != "ERROR:" }
        let failure = PostgreSQLFailure(words.dropFirst().first.map(String.init) ?? "")
        if !failure.state.isEmpty { return failure.error }
        // Treated like an established connection that takes no changes any more; libpq does not say which of the two it is.
        if message.contains("read-only") || message.contains("hot standby") { return PostgreSQLFailure("25006").error }
        return StoreError(
            .unavailable, PostgreSQLStore.name, reason: "The host does not accept the connection.")
    }

    /// Whether the server keeps text as UTF-8.
    var isUTF8: Bool { PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } == "UTF8" }

    /// Sends a statement to be prepared.
    func prepare(_ call: PostgreSQLCall) -> Bool {
        PQsendPrepare(handle, call.name, call.sql, Int32(call.values.count), call.values.map(\.type)) == 1
    }

    /// Sends the values of a prepared statement.
    func send(_ call: PostgreSQLCall) -> Bool {
        // One buffer for all values, with an extra byte so that it has an address.
        let buffer = call.values.flatMap { value -> [UInt8] in value.bytes ?? [] } + [0]
        let lengths = call.values.map { Int32(clamping: $0.bytes?.count ?? 0) }
        return buffer.withUnsafeBytes { bytes in
            var offset = 0
            let pointers = call.values.map { value -> UnsafePointer<CChar>? in
                defer { offset += value.bytes?.count ?? 0 }
                return value.bytes == nil
                    ? nil : bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            let formats = [Int32](repeating: 1, count: pointers.count)
            return PQsendQueryPrepared(handle, call.name, Int32(pointers.count), pointers, lengths, formats, 1) == 1
        }
    }

    /// Ends a transaction: everything sent since the last one takes effect as a whole.
    func sync() -> Bool { PQpipelineSync(handle) == 1 }

    /// Writes the buffered data.
    /// - Returns: whether some is still buffered; `nil` if the connection broke.
    func flush() -> Bool? {
        switch PQflush(handle) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Reads the available data.
    /// - Returns: false if the connection broke.
    func receive() -> Bool { PQconsumeInput(handle) == 1 }

    /// The next event; `nil` if it is not complete yet.
    func next() -> Event? {
        guard PQisBusy(handle) == 0 else { return nil }
        guard let result = PQgetResult(handle) else { return .statementEnd }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        if status == PGRES_PIPELINE_SYNC { return .sync }
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return .answer(Self.answer(result)) }
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        return .failure(PostgreSQLFailure(state ?? ""))
    }

    /// The received notifications.
    func notifications() -> [PostgreSQLNotification] {
        var notifications: [PostgreSQLNotification] = []
        while let notification = PQnotifies(handle) {
            notifications.append(
                PostgreSQLNotification(
                    channel: String(cString: notification.pointee.relname),
                    text: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return notifications
    }

    private static func answer(_ result: OpaquePointer) -> PostgreSQLAnswer {
        let columns = 0..<PQnfields(result)
        let rows = (0..<PQntuples(result)).map { row in
            PostgreSQLRow(
                fields: columns.map { column in
                    guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
                        return nil
                    }
                    return Array(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column))))
                })
        }
        return PostgreSQLAnswer(rows: rows, count: Int(String(cString: PQcmdTuples(result))) ?? 0)
    }
}
