import Foundation

/// An HTTP/1.1 server that answers each request in a Swift task.
///
/// libmicrohttpd's threads read and write; while the handler works its connection is suspended, so slow handlers hold no
/// thread. Nothing that a client sends or leaves out ends the process. A server that is dropped stops by itself.
// Sound because `state` is touched under `lock` only; the tests run under the thread sanitizer.
public final class HTTPServer: @unchecked Sendable {
    private enum State {
        case idle
        case running(Daemon, port: UInt16)
    }

    private let configuration: HTTPServerConfiguration
    private let clock: HTTPServerClock
    private let handler: @Sendable (HTTPRequest) async -> HTTPResponse
    private let startTask: TaskStart
    private let lock = NSLock()
    private var state = State.idle

    /// Starts the task that answers one request.
    public typealias TaskStart = @Sendable (_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// - Parameters:
    ///   - configuration: address, port, TLS and limits.
    ///   - clock: for deadlines and for draining; the machine's unless given.
    ///   - startTask: starts the task of one request, on threads of the caller's choice; on Swift's own unless given.
    ///   - handler: answers one request. Runs in a task of its own, which is cancelled at the deadline.
    public init(
        _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(), clock: HTTPServerClock = .system,
        startTask: @escaping TaskStart = { Task(operation: $0) },
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.configuration = configuration
        self.clock = clock
        self.startTask = startTask
        self.handler = handler
    }

    deinit {
        guard case .running(let daemon, _) = state else { return }
        daemon.refuseConnections()
        Thread.detachNewThread { daemon.end() }
    }

    /// The port while the server runs; nil otherwise.
    public var port: UInt16? {
        lock.withLock {
            guard case .running(_, let port) = state else { return nil }
            return port
        }
    }

    /// Starts to listen. A server that was stopped may be started again.
    ///
    /// - Returns: the port, chosen by the system where the configuration says 0.
    /// - Throws: `httpAddress`, `httpListen` (taken, forbidden), `httpTLS`, or `httpRunning` when it runs already.
    @discardableResult
    public func start() throws(HTTPServerError) -> UInt16 {
        lock.lock()
        defer { lock.unlock() }
        guard case .idle = state else { throw .running }
        let daemon = Daemon(configuration, clock: clock, startTask: startTask, handler: handler)
        let port = try daemon.start()
        state = .running(daemon, port: port)
        return port
    }

    /// Stops: takes nothing new, lets what is open finish, and ends the threads.
    ///
    /// Returns when all is closed. Does nothing when the server does not run.
    ///
    /// - Parameter limit: how long open exchanges may go on. Then their tasks are cancelled, their clients get a 503, and a
    ///   second later whatever could still not be written is cut off.
    public func stop(within limit: Duration = .seconds(10)) async {
        guard let daemon = leaveRunning() else { return }
        await drain(daemon, within: limit)
        // Joins threads, so it stays off the cooperative pool.
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                daemon.end()
                done.resume()
            }
        }
    }

    private func leaveRunning() -> Daemon? {
        lock.withLock {
            guard case .running(let daemon, _) = state else { return nil }
            state = .idle
            daemon.refuseConnections()
            return daemon
        }
    }

    private func drain(_ daemon: Daemon, within limit: Duration) async {
        let clock = clock
        let impatience = Task {
            try await clock.sleep(limit)
            daemon.open.answerAll(with: .stopping)
            try await clock.sleep(.seconds(1))
            daemon.open.giveUp()
        }
        await daemon.open.untilEmpty()
        impatience.cancel()
    }
}
