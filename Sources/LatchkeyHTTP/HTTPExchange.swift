import CMicroHTTPD
import Foundation
import LatchkeyCore

/// One request and its reply: collects the body, starts a task that answers, suspends the connection unless the answer is there at
/// once, and queues the reply.
///
/// libmicrohttpd calls `proceed` on one of its threads, never two at once for one exchange: with the head, with each piece
/// of the body, at the body's end, and once more after the connection is resumed.
// Sound because tasks touch only what `lock` guards, and the connection's thread alone touches the rest. HTTPServerCrowdTests and
// HTTPServerLifeTests cover both.
final class HTTPExchange: @unchecked Sendable {
    private enum Phase { case head, body, answer }

    private let daemon: Daemon
    private let target: String
    private let client: ClientConnection
    private var phase = Phase.head
    private var headers = HTTPHeaders()
    private var body = Data()
    private var received = 0
    /// The reply for the client once libmicrohttpd accepts none.
    private var finalReply: HTTPResponse?

    private var lock: NSLock { client.exchangeLock }
    private var reply: HTTPResponse?
    private var suspended: OpaquePointer?
    private var work: Task<Void, Never>?
    /// The body that is being sent, if it is a stream.
    private var stream: HTTPBodyStream?

    /// - Parameter client: the connection that the request arrived on.
    init(_ daemon: Daemon, target: String, client: ClientConnection) {
        self.daemon = daemon
        self.target = target
        self.client = client
    }

    /// Takes the next step. Returning `NO` closes the connection.
    func proceed(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, piece: UnsafeBufferPointer<CChar>
    ) -> MHD_Result {
        switch phase {
        case .head:
            phase = .body
            enter(.body)
            return takeHead(connection)
        case .body where !piece.isEmpty:
            return take(piece)
        case .body:
            phase = .answer
            enter(.answer)
            return takeEnd(connection, method: String(cString: method))
        case .answer:
            enter(.reply)
            return sendReply(on: connection)
        }
    }

    /// Sets the reply; only the first one counts. Any thread may call it.
    func answer(with response: HTTPResponse) {
        let isFirst = lock.withLock {
            guard reply == nil else { return false }
            reply = response
            // Under the lock: a server that stops answers every exchange first and so waits here until each connection is
            // resumed. libmicrohttpd ends the process if it is stopped while a connection is suspended.
            if let suspended { resumeConnection(suspended) }
            suspended = nil
            return true
        }
        if isFirst { cancelWork() }
    }

    private func sendReply(on connection: OpaquePointer) -> MHD_Result {
        send(lock.withLock { reply } ?? .unanswered, on: connection)
    }

    /// Queues the reply. A body that is a stream ends when the server stops, or libmicrohttpd would find its connection suspended.
    private func send(_ reply: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        if case .stream(let stream) = reply.body {
            lock.withLock { self.stream = stream }
            daemon.watch(stream, client.socket)
            if daemon.open.isClosed { stream.end() }
        }
        return queue(reply, on: connection)
    }

    /// Ends a body that would go on for ever, because the server stops. Any thread may call it.
    func endStream() { lock.withLock { stream }?.end() }

    /// The reply is written or the client is gone.
    func end() {
        endStream()
        if let finalReply { send(finalReply) }
        daemon.open.remove(self)
        cancelWork()
        enter(.head)
    }

    /// libmicrohttpd gave the request up without a reply, because its memory for the head ran out, for example for thousands of cookies.
    func abandon() {
        send(.headTooLarge)
        end()
    }

    private func send(_ response: HTTPResponse) {
        // With TLS, only libmicrohttpd can write to the client.
        if daemon.configuration.tls == nil { client.send(response) }
    }

    private func enter(_ phase: ClientConnection.Phase) {
        daemon.connections.enter(phase, client, at: daemon.time.uptime)
    }

    private func takeHead(_ connection: OpaquePointer) -> MHD_Result {
        let limits = daemon.configuration
        guard daemon.admit(self) else {
            // While it stops, libmicrohttpd takes a reply without keeping it and asks again at the end of the body. The exchange has
            // its answer then and is not suspended, because nobody would resume it.
            answer(with: .stopping)
            return queue(.stopping, on: connection)
        }
        guard latchkey_mhd_header_size(connection) <= limits.headerBytes else {
            return queue(.headTooLarge, on: connection)
        }
        headers = connectionHeaders(connection)
        if let refusal = headers.framingRefusal { return queue(refusal, on: connection) }
        let length = Int(clamping: headers.statedLength)
        guard length <= (headers.isWaitingToSend ? limits.bodyBytes : limits.discardedBytes) else {
            return queue(.bodyTooLarge, on: connection)
        }
        body.reserveCapacity(max(0, min(length, limits.bodyBytes)))
        return .YES
    }

    private func take(_ piece: UnsafeBufferPointer<CChar>) -> MHD_Result {
        let limits = daemon.configuration
        received += piece.count
        let isOverdue = isAnswered
        if received > limits.discardedBytes || isOverdue {
            finalReply = isOverdue ? .bodyOverdue : .bodyTooLarge
            return .NO
        }
        if received <= limits.bodyBytes { body.append(contentsOf: UnsafeRawBufferPointer(piece)) }
        return .YES
    }

    private func takeEnd(_ connection: OpaquePointer, method: String) -> MHD_Result {
        guard received <= daemon.configuration.bodyBytes else { return queue(.bodyTooLarge, on: connection) }
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: method), target: target, headers: headers, body: body,
            remoteAddress: client.addressText)
        if !isAnswered { startWork(request) }
        let answer = lock.withLock {
            if reply == nil {
                MHD_suspend_connection(connection)
                suspended = connection
            }
            return reply
        }
        guard let answer else { return .YES }
        enter(.reply)
        return send(answer, on: connection)
    }

    private var isAnswered: Bool { lock.withLock { reply != nil } }

    /// Answers at once, or starts the task that answers. The first answer, possibly that of the deadline, cancels the task, and so does
    /// `end`.
    private func startWork(_ request: HTTPRequest) {
        let answering: @Sendable () async -> HTTPResponse
        switch daemon.begin(request) {
        case .reply(let reply): return answer(with: reply)
        case .task(let work): answering = work
        }
        let task = daemon.startTask { self.answer(with: await answering()) }
        let isAnswered = lock.withLock {
            work = task
            return reply != nil
        }
        if isAnswered { task.cancel() }
    }

    private func cancelWork() { lock.withLock { work }?.cancel() }
}

extension HTTPServerConfiguration {
    /// Bytes of a body that are read and discarded, so that the client sees the refusal.
    fileprivate var discardedBytes: Int {
        let (bytes, isTooMuch) = max(0, bodyBytes).multipliedReportingOverflow(by: 64)
        return isTooMuch ? .max : bytes
    }
}
