import Foundation
public import LatchkeyCore

/// An HTTP/1.1 server that answers each request in a Swift task.
///
/// Some threads read and write. While the handler works, its connection is suspended, so that slow handlers occupy none of them. An
/// answer that is ready before the connection would be suspended is sent immediately. Nothing that a client sends or leaves out ends
/// the process. Releasing the server stops it.
// Sound because `state` and `configuration` are touched under `lock` only; the tests run under the thread sanitizer.
public final class HTTPServer: @unchecked Sendable {
    private enum State {
        case idle
        case running(Daemon, port: UInt16)
    }

    private var configuration: HTTPServerConfiguration
    private let time: any Timekeeper
    private let begin: @Sendable (HTTPRequest) -> HTTPWork
    private let startTask: TaskStart.Starter
    private let work: (any ThreadWork)?
    private let complete: @Sendable (HTTPResponse, HTTPRequest?) -> HTTPResponse
    private let lock = NSLock()
    private var state = State.idle
    /// The replacement of the configuration's certificate and key.
    private var replacement: TLSIdentity?

    /// - Parameters:
    ///   - configuration: address, port, TLS and limits.
    ///   - time: the clock for deadlines and for stopping. Defaults to the machine's.
    ///   - handler: answers one request. Runs in its own task, which is cancelled at the deadline.
    public convenience init(
        _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        time: any Timekeeper = SystemTimekeeper(),
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.init(configuration, time: time, startTask: { Task(operation: $0) }) { request in
            .task { await handler(request) }
        }
    }

    /// - Parameters:
    ///   - configuration: address, port, TLS and limits.
    ///   - time: the clock for deadlines and for stopping.
    ///   - startTask: starts the task of one request, on threads of the caller's choice.
    ///   - work: further work of the threads that read and write, such as the tasks of requests. It then states the number of threads, in
    ///     place of the configuration. Defaults to `nil`: threads that only read and write.
    ///   - complete: adds the fields of the server's replies to a refusal that `begin` does not see. Called once for each such reply, with
    ///     the request as far as it is known. Defaults to nothing.
    ///   - begin: answers one request immediately, or returns its task's work. Both closures are called on the thread that has read the
    ///     request; they should be short, because other connections wait for that thread.
    package init(
        _ configuration: HTTPServerConfiguration, time: any Timekeeper = SystemTimekeeper(),
        startTask: @escaping TaskStart.Starter, work: (any ThreadWork)? = nil,
        complete: @escaping @Sendable (HTTPResponse, HTTPRequest?) -> HTTPResponse = { response, _ in response },
        begin: @escaping @Sendable (HTTPRequest) -> HTTPWork
    ) {
        self.configuration = configuration
        self.time = time
        self.startTask = startTask
        self.work = work
        self.complete = complete
        self.begin = begin
    }

    deinit {
        guard case .running(let daemon, _) = state else { return }
        daemon.drain()
        Thread.detachNewThread { daemon.end() }
    }

    /// The port while the server runs; `nil` otherwise.
    public var port: UInt16? {
        lock.withLock {
            guard case .running(_, let port) = state else { return nil }
            return port
        }
    }

    /// Starts listening. A stopped server may be started again.
    ///
    /// - Returns: the port; the system chooses it if the configuration says 0.
    /// - Throws: `httpAddress`, `httpListen` (taken, forbidden), `httpOpenFiles`, `httpTLS`, or `httpRunning` if it runs already.
    @discardableResult
    public func start() throws(Diagnosis) -> UInt16 {
        lock.lock()
        defer { lock.unlock() }
        guard case .idle = state else { throw .running }
        let identity = try identity()
        let daemon = try Daemon(
            configuration, identity: identity, time: time, startTask: startTask, work: work, complete: complete,
            begin: begin)
        let port = try daemon.start()
        state = .running(daemon, port: port)
        return port
    }

    /// Starts several servers of the process, if it may have the files that all of them need.
    /// - Returns: their ports.
    package static func start(_ servers: [HTTPServer]) throws(Diagnosis) -> [UInt16] {
        if let budget = servers.first?.configuration.openFiles {
            try Daemon.check(servers.reduce(0) { $0 + Daemon.files($1.configuration, $1.work) }, of: budget)
        }
        var ports: [UInt16] = []
        for server in servers { ports.append(try server.start()) }
        return ports
    }

    private func identity() throws(Diagnosis) -> TLSIdentity? {
        if let replacement { return replacement }
        guard let tls = configuration.tls else { return nil }
        return try TLSIdentity(tls)
    }

    /// Replaces certificate and private key, while the server runs or before it is started again.
    ///
    /// Connections that begin afterwards show the new certificate; open ones keep the old one.
    ///
    /// - Parameter tls: the new certificate chain and its private key, as PEM text.
    /// - Throws: `httpTLS` if they cannot be read or do not belong together, or if the server was made without TLS. Then the old ones
    ///   stay in force.
    public func replaceTLS(_ tls: HTTPServerConfiguration.TLS) throws(Diagnosis) {
        guard lock.withLock({ replacement != nil || configuration.tls != nil }) else { throw .plain }
        use(try TLSIdentity(tls))
    }

    /// Sets the certificate that new connections show, also where the configuration has none. A server that runs without TLS stays without
    /// it.
    package func use(_ identity: TLSIdentity) {
        lock.withLock {
            if case .running(let daemon, _) = state, !daemon.use(identity) { return }
            replacement = identity
        }
    }

    /// The number of concurrent connections from one address, which may change while the server runs. Connections beyond a smaller one are
    /// closed.
    package var connectionsPerAddress: Int {
        get { lock.withLock { configuration.connectionsPerAddress } }
        set {
            lock.withLock {
                configuration.connectionsPerAddress = newValue
                if case .running(let daemon, _) = state { daemon.connections.allow(perAddress: newValue) }
            }
        }
    }

    /// How long a connection may wait for its next request, which may change while the server runs.
    package var keepAlive: Duration {
        get { lock.withLock { configuration.keepAlive } }
        set {
            lock.withLock {
                configuration.keepAlive = newValue
                if case .running(let daemon, _) = state { daemon.connections.keep(for: newValue) }
            }
        }
    }

    /// Makes each reply end its connection from now on, so that clients have gone to other servers before this one stops.
    package func drain() {
        lock.withLock { if case .running(let daemon, _) = state { daemon.drain() } }
    }

    /// Stops the server: takes no new connections, answers the requests of existing ones, and ends the threads.
    ///
    /// Each reply ends its connection. Returns when every connection is closed. Does nothing if the server does not run.
    ///
    /// - Parameter limit: how long open exchanges may continue. Then their tasks are cancelled and their clients get a 503; one
    ///   second later, unwritten replies are cut off.
    public func stop(within limit: Duration = .seconds(10)) async {
        guard let (daemon, isDrained) = leaveRunning() else { return }
        await drain(daemon, isDrained, within: limit)
        // Off the cooperative pool, because it waits for threads.
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                daemon.end()
                done.resume()
            }
        }
    }

    /// - Returns: also whether it drained before.
    private func leaveRunning() -> (Daemon, Bool)? {
        lock.withLock {
            guard case .running(let daemon, _) = state else { return nil }
            state = .idle
            let isDrained = daemon.isDraining
            daemon.endStreams()
            return (daemon, isDrained)
        }
    }

    private func drain(_ daemon: Daemon, _ isDrained: Bool, within limit: Duration) async {
        let time = time
        let timeout = Task {
            try await time.sleep(for: limit)
            daemon.open.close(with: .stopping)
            try await time.sleep(for: .seconds(1))
            daemon.open.giveUp()
        }
        // A proxy that has seen the drain opens a connection for each request. Its handshakes are over before the system refuses others.
        if isDrained {
            daemon.dropConnects()
            try? await time.sleep(for: min(limit, .milliseconds(20)))
        }
        daemon.endListening()
        await withCheckedContinuation { done in daemon.hasStoppedListening.whenResolved { _ in done.resume() } }
        // A client that has just connected is about to send its request. A proxy without a way to new connections uses up its kept ones.
        let end = time.uptime + min(limit, configuration.lastRequestDeadline)
        var mayComeOne: Bool { daemon.connections.mayBringRequest(isDrained: isDrained) && time.uptime < end }
        // Replies that began before the drain keep their connections.
        await daemon.open.untilEmpty()
        while mayComeOne, (try? await time.sleep(for: .milliseconds(10))) != nil {}
        await daemon.open.untilEmpty()
        timeout.cancel()
    }
}
