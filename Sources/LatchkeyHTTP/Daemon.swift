import CGnuTLS
import CMicroHTTPD
import Foundation
import LatchkeyCore

/// One libmicrohttpd daemon from start to end, and what its callbacks need.
// Sound because `pointer` and `threads` are written by `start` and `end`, which `HTTPServer` calls one after the other, and `lines`,
// `watches` and `currentIdentity` are touched under `lock` only.
final class Daemon: @unchecked Sendable {
    let configuration: HTTPServerConfiguration
    let begin: @Sendable (HTTPRequest) -> HTTPWork
    let time: any Timekeeper
    let startTask: TaskStart.Starter
    let open = OpenExchanges()
    let connections: OpenConnections

    /// The work that its threads do besides; `nil` if libmicrohttpd has threads of its own.
    private let work: (any ThreadWork)?
    private var pointer: OpaquePointer?
    private var threads: DaemonThreads?
    let leaderSleep = LeaderSleep()
    private let lock = NSLock()
    private var lines: [String] = []
    private var watches: [Watch: Task<Void, Never>] = [:]
    private var currentIdentity: TLSIdentity?

    /// What connections that begin show; `nil` for plain HTTP.
    var identity: TLSIdentity? { lock.withLock { currentIdentity } }

    /// - Parameters:
    ///   - identity: what connections show; `nil` for plain HTTP.
    ///   - work: what the threads do besides; `nil` for threads that only read and write.
    init(
        _ configuration: HTTPServerConfiguration, identity: TLSIdentity?, time: any Timekeeper,
        startTask: @escaping TaskStart.Starter, work: (any ThreadWork)?,
        begin: @escaping @Sendable (HTTPRequest) -> HTTPWork
    ) {
        self.configuration = configuration
        self.work = latchkey_mhd_does_without_threads() ? work : nil
        self.begin = begin
        self.time = time
        self.startTask = startTask
        currentIdentity = identity
        connections = OpenConnections(
            places: configuration.places, placesPerAddress: configuration.connectionsPerAddress,
            headDeadline: configuration.headDeadline)
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
        if let work {
            threads = DaemonThreads(pointer, work, leaderSleep)
            if threads == nil {
                let number = errno
                end()
                throw startError(number)
            }
        }
        return latchkey_mhd_port(pointer)
    }

    /// Has connections that begin from now on show another certificate.
    /// - Returns: `false` for plain HTTP, which goes on.
    func use(_ identity: TLSIdentity) -> Bool {
        lock.withLock {
            guard currentIdentity != nil else { return false }
            currentIdentity = identity
            return true
        }
    }

    /// Refuses further requests on open connections, and closes new connections at once.
    ///
    /// Does not use `MHD_quiesce_daemon`: it and a worker may both take the listening socket out of epoll, and then libmicrohttpd
    /// ends the process.
    func refuseConnections() { open.close() }

    /// Ends the daemon's threads and closes its connections. Blocks until both are done.
    ///
    /// libmicrohttpd ends the process if a connection is still suspended, so every exchange is answered first.
    func end() {
        guard let pointer else { return }
        for watch in lock.withLock({ watches.values.map(\.self) }) { watch.cancel() }
        open.answerAll(with: .stopping)
        threads?.end()
        MHD_stop_daemon(pointer)
        (self.pointer, threads) = (nil, nil)
        Unmanaged.passUnretained(self).release()
    }

    /// Adds a new exchange, and makes sure that it is answered when its deadline passes.
    /// - Returns: `false` while the server stops.
    func admit(_ exchange: HTTPExchange) -> Bool {
        switch open.add(exchange, due: time.uptime + configuration.exchangeDeadline) {
        case .refused: return false
        case .added: return true
        case .addedUnwatched:
            // Ends when no exchange is open; `end` cancels it. One task for all exchanges, because a timer for each would cost
            // more than most answers.
            start(.exchanges)
            return true
        }
    }

    /// Adds a new connection, and makes sure that it is closed if no head arrives in time.
    func admit(_ connection: ClientConnection) {
        guard connections.add(connection, at: time.uptime) else { return }
        start(.connections)
    }

    /// Makes sure that a body ends when its client has gone. Ends with the body; `end` ends all bodies.
    func watch(_ stream: HTTPBodyStream, _ socket: Int32) {
        let time = time
        stream.whileSent {
            while (try? await time.sleep(for: .seconds(5))) != nil { stream.endIfClientHasGone(socket) }
        }
    }

    private enum Watch { case exchanges, connections }

    /// Starts a watch, which ends when there is nothing to watch.
    private func start(_ watch: Watch) {
        let task = Task { watch == .exchanges ? await watchExchanges() : await watchConnections() }
        lock.withLock { watches[watch] = task }
    }

    private func watchConnections() async {
        while let due = connections.nextDue(at: time.uptime) {
            guard (try? await time.sleep(until: due)) != nil else { return }
            connections.closeOverdue(at: time.uptime)
        }
    }

    private func watchExchanges() async {
        while let due = open.nextDue() {
            guard (try? await time.sleep(until: due)) != nil else { return }
            for exchange in open.takeOverdue(at: time.uptime) { exchange.answer(with: .overdue) }
        }
    }

    /// Keeps a log line of libmicrohttpd for the error of a failed start.
    func note(_ line: String) {
        lock.withLock {
            guard lines.count < 4 else { return }
            lines.append(line.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    private func make(_ address: SocketAddress, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        let callbacks = latchkey_mhd_callbacks(
            context: context, accept: takeClient, connection: takeConnection, access: takeStep, completed: takeEnd,
            uri: takeTarget, log: takeLogLine)
        let threads = work == nil ? max(1, min(configuration.threads, configuration.connections)) : 1
        return address.withPointer { address in
            let settings = latchkey_mhd_settings(
                flags: latchkey_mhd_flags(Int32(address.pointee.sa_family) == AF_INET6, work == nil), address: address,
                connection_memory: configuration.connectionMemory,
                connection_limit: UInt32(clamping: configuration.places + configuration.placesLeaving),
                idle_seconds: UInt32(clamping: max(1, configuration.idleTimeout.components.seconds)),
                thread_count: UInt32(clamping: threads),
                certificate_chooser: identity == nil ? nil : latchkey_tls_chooser(takeHandshake))
            return latchkey_mhd_start(settings, callbacks)
        }
    }

    private func startError(_ number: Int32) -> HTTPServerError {
        let said = lock.withLock { lines }.joined(separator: " ")
        let details = number == 0 ? said : String(cString: strerror(number)) + "."
        return .listen(configuration.address, port: configuration.port, details)
    }
}

extension HTTPServerConfiguration {
    /// How many connections there may be: fewer than configured if the system allows the process fewer open files.
    fileprivate var places: Int {
        max(1, min(connections, max(16, (Int(clamping: latchkey_open_file_limit()) - 80) / 5 * 4)))
    }

    /// How many connections that are being closed may exist beside them.
    fileprivate var placesLeaving: Int { places / 4 + 16 }

    /// Bytes that one connection may hold for parsing: the head twice (text and table), and room for the reply's head.
    fileprivate var connectionMemory: Int { max(1_024, min(headerBytes, 1 << 24)) * 2 + 8_192 }
}
