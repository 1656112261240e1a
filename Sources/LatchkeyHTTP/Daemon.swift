import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// A listening server from start to end, and the state that its loops share.
// Sound because `listener`, `loops`, `threads` and `handshakes` are written by `start` and `end`, which `HTTPServer` calls one after the other, and
// `watches` and `currentIdentity` are touched under `lock` only.
final class Daemon: @unchecked Sendable {
    let configuration: HTTPServerConfiguration
    let begin: @Sendable (HTTPRequest) -> HTTPWork
    private let complete: @Sendable (HTTPResponse, HTTPRequest?) -> HTTPResponse
    let time: any Timekeeper
    let startTask: TaskStart.Starter
    let open = OpenExchanges()
    let connections: OpenConnections
    /// The TLS offer; `nil` for plain HTTP.
    let offer: TLSOffer?
    let hasStoppedListening = Promise<Void, Never>()
    private let drains = Locked(false)
    /// How many loops may still accept connections.
    private let listeningLoops = Locked(0)

    /// The work that its threads do besides; `nil` for threads that only read and write.
    private let work: (any ThreadWork)?
    private var listener: Int32 = -1
    private(set) var loops: [ServerLoop] = []
    private var threads: [LoopThreads] = []
    /// The threads that shake hands; `nil` for plain HTTP.
    private(set) var handshakes: HandshakeThreads?
    /// How many descriptors it has besides its connections.
    private var fixed = 0
    private let lock = NSLock()
    private var watches: [Watch: Task<Void, Never>] = [:]
    private var currentIdentity: TLSIdentity?

    /// A server that may have fewer connections does not start.
    private static let leastPlaces = 16

    /// The identity that new connections show; `nil` for plain HTTP.
    var identity: TLSIdentity? { lock.withLock { currentIdentity } }

    /// Where its sockets are counted.
    var openFiles: OpenFileBudget { configuration.openFiles }

    /// - Parameters:
    ///   - identity: the identity that connections show; `nil` for plain HTTP.
    ///   - work: further work of the threads; `nil` for threads that only read and write.
    ///   - complete: adds to a refusal the fields of the server's replies.
    /// - Throws: `httpTLS`.
    init(
        _ configuration: HTTPServerConfiguration, identity: TLSIdentity?, time: any Timekeeper,
        startTask: @escaping TaskStart.Starter, work: (any ThreadWork)?,
        complete: @escaping @Sendable (HTTPResponse, HTTPRequest?) -> HTTPResponse,
        begin: @escaping @Sendable (HTTPRequest) -> HTTPWork
    ) throws(Diagnosis) {
        self.configuration = configuration
        self.work = work
        (self.begin, self.complete) = (begin, complete)
        self.time = time
        self.startTask = startTask
        offer = identity == nil ? nil : try TLSOffer()
        currentIdentity = identity
        connections = OpenConnections(
            places: max(1, configuration.connections), placesPerAddress: configuration.connectionsPerAddress,
            headDeadline: configuration.headDeadline, keepAlive: configuration.keepAlive,
            idleTimeout: configuration.idleTimeout)
    }

    /// How many loops and threads a server has. Two threads of a pool share a loop: one reads and writes while the other works. With a loop
    /// each, both read 64 turns for each piece of work, so that an answer waits behind a crowd's pipelined requests.
    private static func counts(
        _ configuration: HTTPServerConfiguration, _ work: (any ThreadWork)?
    ) -> (loops: Int, threads: Int) {
        if let work { return (max(1, work.threads / 2), max(1, work.threads)) }
        let threads = max(1, min(configuration.threads, configuration.connections))
        return (threads, threads)
    }

    /// How many descriptors a server has besides its connections.
    static func files(_ configuration: HTTPServerConfiguration, _ work: (any ThreadWork)?) -> Int {
        let (loops, threads) = counts(configuration, work)
        return 1 + loops + threads
    }

    /// - Throws: `httpOpenFiles` if this number of descriptors leaves too few for clients.
    static func check(_ files: Int, of budget: OpenFileBudget) throws(Diagnosis) {
        guard budget.left(for: .client) < files + leastPlaces else { return }
        throw .openFiles(budget.most, least: budget.limit(leaving: files + leastPlaces))
    }

    /// Starts.
    /// - Returns: the port.
    func start() throws(Diagnosis) -> UInt16 {
        let port = try listen()
        let threadCount = Self.counts(configuration, work).threads
        for (number, loop) in loops.enumerated() {
            let count = threadCount / loops.count + (number < threadCount % loops.count ? 1 : 0)
            guard let one = LoopThreads(loop, work ?? NoWork(), threads: count) else { throw failure() }
            threads.append(one)
        }
        return port
    }

    /// Listens, but has no threads.
    /// - Returns: the port.
    func listen() throws(Diagnosis) -> UInt16 {
        guard let address = SocketAddress(configuration.address, port: configuration.port) else {
            throw .address(configuration.address)
        }
        let needed = Self.files(configuration, work)
        try Self.check(needed, of: openFiles)
        guard openFiles.take(needed, for: .own) else { throw failure() }
        fixed = needed
        listener = address.withPointer { latchkey_listen($0) }
        guard listener >= 0 else { throw failure() }
        for _ in 0..<Self.counts(configuration, work).loops {
            guard let loop = ServerLoop(self, listener: listener) else { throw failure() }
            loops.append(loop)
        }
        listeningLoops.withLock { [count = loops.count] in $0 = count }
        handshakes = offer.map { _ in HandshakeThreads(max(1, ProcessInfo.processInfo.activeProcessorCount / 2)) }
        openFiles.add(connections)
        return latchkey_port(listener)
    }

    /// Gives up a start that the system has refused, with `errno`.
    private func failure() -> Diagnosis {
        let details = String(cString: strerror(errno)) + "."
        end()
        return .listen(configuration.address, port: configuration.port, details)
    }

    /// Replaces the certificate that new connections show.
    /// - Returns: `false` for plain HTTP, which stays so.
    func use(_ identity: TLSIdentity) -> Bool {
        lock.withLock {
            guard currentIdentity != nil else { return false }
            currentIdentity = identity
            return true
        }
    }

    /// Whether each reply ends its connection.
    var isDraining: Bool { drains.withLock { $0 } }

    /// Makes each reply end its connection, so that clients go to other servers.
    func drain() { drains.withLock { $0 = true } }

    /// Drains, and ends endless bodies.
    func endStreams() {
        drain()
        open.endStreams()
    }

    /// Prevents further connections. Handshakes under way finish.
    func dropConnects() { latchkey_drop_connects(listener) }

    /// Lets the system refuse new connections once the waiting ones are accepted, by all loops.
    func endListening() { for loop in loops { loop.inbox.endListening() } }

    /// A loop accepts no more connections.
    func loopHasStoppedListening() {
        let isLast = listeningLoops.withLock { count in
            count -= 1
            return count == 0
        }
        guard isLast else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        hasStoppedListening.resolve(.success(()))
    }

    /// The reply of a refusal, as pages may read it. Once for each that is sent.
    /// - Parameter request: as far as it is known; `nil` if it is not.
    func response(_ refusal: HTTPRefusal, to request: HTTPRequest?) -> HTTPResponse {
        complete(refusal.response, request)
    }

    /// Ends the daemon's threads and closes its connections. Blocks until both are done.
    func end() {
        for watch in lock.withLock({ watches.values.map(\.self) }) { watch.cancel() }
        open.close(with: .stopping)
        for one in threads { one.end() }
        handshakes?.end()
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
                exchange.answer(with: .overdue)
            }
        }
    }
}
