import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// A listening server from start to end, and what its loops share.
// Sound because `listener`, `loops` and `threads` are written by `start` and `end`, which `HTTPServer` calls one after the other, and
// `watches` and `currentIdentity` are touched under `lock` only.
final class Daemon: @unchecked Sendable {
    let configuration: HTTPServerConfiguration
    let begin: @Sendable (HTTPRequest) -> HTTPWork
    let time: any Timekeeper
    let startTask: TaskStart.Starter
    let open = OpenExchanges()
    let connections: OpenConnections
    /// What TLS offers; `nil` for plain HTTP.
    let offer: TLSOffer?

    /// The work that its threads do besides; `nil` for threads that only read and write.
    private let work: (any ThreadWork)?
    private var listener: Int32 = -1
    private var loops: [ServerLoop] = []
    private var threads: [LoopThreads] = []
    /// How many descriptors it has beside its connections.
    private var fixed = 0
    private let lock = NSLock()
    private var watches: [Watch: Task<Void, Never>] = [:]
    private var currentIdentity: TLSIdentity?

    /// A server that may have fewer connections does not start.
    private static let leastPlaces = 16

    /// What connections that begin show; `nil` for plain HTTP.
    var identity: TLSIdentity? { lock.withLock { currentIdentity } }

    /// Where its sockets are counted.
    var openFiles: OpenFileBudget { configuration.openFiles }

    /// - Parameters:
    ///   - identity: what connections show; `nil` for plain HTTP.
    ///   - work: what the threads do besides; `nil` for threads that only read and write.
    /// - Throws: `httpTLS`.
    init(
        _ configuration: HTTPServerConfiguration, identity: TLSIdentity?, time: any Timekeeper,
        startTask: @escaping TaskStart.Starter, work: (any ThreadWork)?,
        begin: @escaping @Sendable (HTTPRequest) -> HTTPWork
    ) throws(Diagnosis) {
        self.configuration = configuration
        self.work = work
        self.begin = begin
        self.time = time
        self.startTask = startTask
        offer = identity == nil ? nil : try TLSOffer()
        currentIdentity = identity
        connections = OpenConnections(
            places: max(1, configuration.connections), placesPerAddress: configuration.connectionsPerAddress,
            headDeadline: configuration.headDeadline, idleTimeout: configuration.idleTimeout)
    }

    /// Starts to listen.
    /// - Returns: the port.
    func start() throws(Diagnosis) -> UInt16 {
        guard let address = SocketAddress(configuration.address, port: configuration.port) else {
            throw .address(configuration.address)
        }
        let loopCount = work == nil ? max(1, min(configuration.threads, configuration.connections)) : 1
        let needed = 1 + loopCount + (work?.threads ?? loopCount)
        guard openFiles.left(for: .client) >= needed + Self.leastPlaces, openFiles.take(needed, for: .own) else {
            let limit = OpenFileLimit.current
            throw .openFiles(limit, least: limit - openFiles.left(for: .client) + needed + Self.leastPlaces)
        }
        fixed = needed
        listener = address.withPointer { latchkey_listen($0) }
        guard listener >= 0 else { throw failure() }
        for _ in 0..<loopCount {
            guard let loop = ServerLoop(self, listener: listener) else { throw failure() }
            loops.append(loop)
        }
        openFiles.add(connections)
        for loop in loops {
            guard let one = LoopThreads(loop, work ?? NoWork()) else { throw failure() }
            threads.append(one)
        }
        return latchkey_port(listener)
    }

    /// Gives up a start that the system has refused, with `errno`.
    private func failure() -> Diagnosis {
        let details = String(cString: strerror(errno)) + "."
        end()
        return .listen(configuration.address, port: configuration.port, details)
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
    func refuseConnections() { open.close() }

    /// Ends the daemon's threads and closes its connections. Blocks until both are done.
    func end() {
        for watch in lock.withLock({ watches.values.map(\.self) }) { watch.cancel() }
        open.answerAll(with: HTTPRefusal.stopping.response)
        for one in threads { one.end() }
        for loop in loops { loop.end() }
        (threads, loops) = ([], [])
        if listener >= 0 { close(listener) }
        listener = -1
        openFiles.give(fixed)
        fixed = 0
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

    /// Adds a new connection, and makes sure that it is closed if its client lets it wait too long.
    func admit(_ connection: ClientConnection) {
        guard connections.add(connection, at: time.uptime) else { return }
        start(.connections)
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
            for exchange in open.takeOverdue(at: time.uptime) {
                exchange.answer(with: HTTPRefusal.overdue.response)
            }
        }
    }
}
