import CMicroHTTPD
import Foundation

/// One libmicrohttpd daemon from start to end, and what its callbacks need.
// Sound because `pointer` and `listener` are written by `start` and `refuseConnections`, which `HTTPServer` calls one after
// the other, and `lines` and `watch` are touched under `lock` only.
final class Daemon: @unchecked Sendable {
    let configuration: HTTPServerConfiguration
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse
    let clock: HTTPServerClock
    let startTask: HTTPServer.TaskStart
    let open = OpenExchanges()

    private var pointer: OpaquePointer?
    private let lock = NSLock()
    private var lines: [String] = []
    private var watch: Task<Void, Never>?

    init(
        _ configuration: HTTPServerConfiguration, clock: HTTPServerClock, startTask: @escaping HTTPServer.TaskStart,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.configuration = configuration
        self.handler = handler
        self.clock = clock
        self.startTask = startTask
    }

    /// Starts to listen.
    /// - Returns: the port.
    func start() throws(HTTPServerError) -> UInt16 {
        guard let address = SocketAddress(configuration.address, port: configuration.port) else {
            throw .address(configuration.address)
        }
        // Held by the callbacks until `end`.
        let context = Unmanaged.passRetained(self)
        pointer = make(address, context.toOpaque())
        guard let pointer else {
            context.release()
            throw startError(errno)
        }
        return latchkey_mhd_port(pointer)
    }

    /// Takes no further requests on the connections that are open, and closes new ones at once.
    ///
    /// Not by `MHD_quiesce_daemon`: it and a worker may both take the listening socket out of epoll, and then libmicrohttpd
    /// ends the process.
    func refuseConnections() { open.close() }

    /// Ends the daemon's threads and closes its connections. Blocks until they are gone.
    ///
    /// libmicrohttpd ends the process if a connection is still suspended, so every exchange is answered first.
    func end() {
        guard let pointer else { return }
        lock.withLock { watch }?.cancel()
        open.answerAll(with: .stopping)
        MHD_stop_daemon(pointer)
        self.pointer = nil
        Unmanaged.passUnretained(self).release()
    }

    /// Notes a new exchange, and sees to it that it is answered when its deadline passes.
    /// - Returns: false while the server stops.
    func admit(_ exchange: Exchange) -> Bool {
        switch open.add(exchange, due: clock.now() + configuration.exchangeDeadline) {
        case .refused: return false
        case .added: return true
        case .addedUnwatched:
            // Ends by itself when no exchange is open, and is cancelled by `end`. One task for all exchanges, because a
            // timer for each would cost more than most answers.
            let task = Task { await watchDeadlines() }
            lock.withLock { watch = task }
            return true
        }
    }

    private func watchDeadlines() async {
        while let due = open.nextDue() {
            guard (try? await clock.sleep(max(.zero, due - clock.now()))) != nil else { return }
            for exchange in open.takeOverdue(at: clock.now()) { exchange.answer(with: .overdue) }
        }
    }

    /// Keeps what libmicrohttpd says, for the error of a failed start.
    func note(_ line: String) {
        lock.withLock {
            guard lines.count < 4 else { return }
            lines.append(line.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    private func make(_ address: SocketAddress, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        let callbacks = latchkey_mhd_callbacks(
            context: context, accept: takeClient, access: takeStep, completed: takeEnd, uri: takeTarget,
            log: takeLogLine)
        let threads = UInt32(clamping: max(1, min(configuration.threads, configuration.connections)))
        return address.withPointer { address in
            withOptionalCStrings(configuration.tls?.certificate, configuration.tls?.privateKey) { certificate, key in
                let settings = latchkey_mhd_settings(
                    flags: latchkey_mhd_flags(Int32(address.pointee.sa_family) == AF_INET6 ? 1 : 0), address: address,
                    connection_memory: configuration.connectionMemory,
                    connection_limit: UInt32(clamping: max(1, configuration.connections)),
                    idle_seconds: UInt32(clamping: max(1, configuration.idleTimeout.components.seconds)),
                    thread_count: threads, tls_certificate: certificate, tls_key: key)
                return latchkey_mhd_start(settings, callbacks)
            }
        }
    }

    private func startError(_ number: Int32) -> HTTPServerError {
        let said = lock.withLock { lines }.joined(separator: " ")
        let isTLS = configuration.tls != nil && number != EADDRINUSE && number != EACCES && number != EADDRNOTAVAIL
        if isTLS { return .tls(said.isEmpty ? "no reason given." : said) }
        let details = number == 0 ? said : String(cString: strerror(number)) + "."
        return .listen(configuration.address, port: configuration.port, details)
    }
}

extension HTTPServerConfiguration {
    /// What one connection may hold for parsing: the head twice (text and table), and room for the reply's head.
    fileprivate var connectionMemory: Int { max(1_024, min(headerBytes, 1 << 24)) * 2 + 8_192 }
}

private func withOptionalCStrings<Result>(
    _ one: String?, _ other: String?, _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Result
) -> Result {
    guard let one, let other else { return body(nil, nil) }
    return one.withCString { one in other.withCString { other in body(one, other) } }
}
