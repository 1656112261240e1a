import CMicroHTTPD
import Foundation

/// One request and its reply: gathers the body, lets a task answer while the connection is suspended, queues the reply.
///
/// libmicrohttpd calls `proceed` on one of its threads, never two at once for one exchange: with the head, with each piece
/// of the body, at the body's end, and once more after the connection is resumed.
// Sound because what tasks touch is under `lock`, and the rest is touched only by the connection's
// thread; the server's tests (200 requests at once, deadlines, drains) run under the thread sanitizer.
final class Exchange: @unchecked Sendable {
    private enum Phase { case head, body, answer }

    private let daemon: Daemon
    private let target: String
    private var phase = Phase.head
    private var headers = HTTPHeaders()
    private var body = Data()
    private var received = 0

    private let lock = NSLock()
    private var reply: HTTPResponse?
    private var suspended: OpaquePointer?
    private var work: Task<Void, Never>?

    init(_ daemon: Daemon, target: String) {
        self.daemon = daemon
        self.target = target
    }

    /// Takes the next step; `NO` closes the connection.
    func proceed(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, piece: UnsafeBufferPointer<CChar>
    ) -> MHD_Result {
        switch phase {
        case .head:
            phase = .body
            return takeHead(connection)
        case .body where !piece.isEmpty:
            return take(piece)
        case .body:
            phase = .answer
            return takeEnd(connection, method: String(cString: method))
        case .answer:
            return queue(lock.withLock { reply } ?? .unanswered, on: connection)
        }
    }

    /// Gives the reply; the first one counts. Any thread may call it.
    func answer(with response: HTTPResponse) {
        let isFirst = lock.withLock {
            guard reply == nil else { return false }
            reply = response
            // Under the lock: a server that stops answers every exchange first, and so waits here until each connection is
            // resumed. libmicrohttpd ends the process if it is stopped while one is suspended.
            if let suspended { MHD_resume_connection(suspended) }
            suspended = nil
            return true
        }
        if isFirst { cancelWork() }
    }

    /// The reply is written or the client is gone.
    func end() {
        daemon.open.remove(self)
        cancelWork()
    }

    private func takeHead(_ connection: OpaquePointer) -> MHD_Result {
        let limits = daemon.configuration
        guard daemon.admit(self) else {
            // While it stops libmicrohttpd takes a reply without keeping it and asks again at the body's end. An exchange that
            // has its answer is not suspended then; nobody would be there to resume it.
            answer(with: .stopping)
            return queue(.stopping, on: connection)
        }
        guard latchkey_mhd_header_size(connection) <= limits.headerBytes else {
            return queue(.headTooLarge, on: connection)
        }
        headers = connectionHeaders(connection)
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        let isWaiting = headers["Expect"] != nil
        guard length <= (isWaiting ? limits.bodyBytes : limits.discardedBytes) else {
            return queue(.bodyTooLarge, on: connection)
        }
        body.reserveCapacity(min(max(length, 0), limits.bodyBytes))
        return .YES
    }

    private func take(_ piece: UnsafeBufferPointer<CChar>) -> MHD_Result {
        let limits = daemon.configuration
        received += piece.count
        guard received <= limits.discardedBytes, lock.withLock({ reply == nil }) else { return .NO }
        if received <= limits.bodyBytes { body.append(contentsOf: UnsafeRawBufferPointer(piece)) }
        return .YES
    }

    private func takeEnd(_ connection: OpaquePointer, method: String) -> MHD_Result {
        guard received <= daemon.configuration.bodyBytes else { return queue(.bodyTooLarge, on: connection) }
        let request = HTTPRequest(
            method: method, target: target, headers: headers, body: body,
            remoteAddress: latchkey_mhd_client(connection).map(SocketAddress.text) ?? "")
        let isOverdue = lock.withLock {
            guard reply == nil else { return true }
            MHD_suspend_connection(connection)
            suspended = connection
            return false
        }
        if isOverdue { return queue(.overdue, on: connection) }
        startWork(request)
        return .YES
    }

    /// Cancelled by the first answer, which may be that of the deadline, and by `end`.
    private func startWork(_ request: HTTPRequest) {
        let handler = daemon.handler
        let task = daemon.startTask { self.answer(with: await handler(request)) }
        let isAnswered = lock.withLock {
            work = task
            return reply != nil
        }
        if isAnswered { task.cancel() }
    }

    private func cancelWork() { lock.withLock { work }?.cancel() }
}

extension HTTPServerConfiguration {
    /// Bytes of a body that are read and thrown away to give the client its refusal.
    fileprivate var discardedBytes: Int { bodyBytes.multipliedReportingOverflow(by: 4).partialValue }
}

extension HTTPResponse {
    fileprivate static let headTooLarge = text("The request's header fields are too large.", status: 431)
    fileprivate static let bodyTooLarge = text("The request's body is too large.", status: 413)
    /// What an exchange gets that takes longer than the deadline.
    static let overdue = text("The request took longer than the server allows.", status: 503)
    fileprivate static let unanswered = text("The request was not answered.", status: 500)
    /// What a request gets that comes, or is still open, while the server stops.
    static let stopping = HTTPResponse(
        status: 503, headers: ["Content-Type": "text/plain; charset=utf-8", "Connection": "close"],
        body: .bytes(Data("The server is stopping.".utf8)))
}
