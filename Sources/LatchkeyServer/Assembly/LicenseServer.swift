public import Foundation
package import LatchkeyCore
package import LatchkeyHTTP
package import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// A running license server: listeners for players, packagers and operators, the current configuration, and their shared state.
///
///     let server = try await LicenseServer(configuration: URL(filePath: "server.json"))
///     print("Players ask for licenses at \(server.addresses.players.url)/t/demo/fairplay")
///     await server.run()  // until the task is cancelled
///
/// `latchkey-server run` runs this server; <doc:LatchkeyServer> describes it.
public final class LicenseServer: Sendable {
    /// The state that outlives a configuration.
    package let shared: ServerShared
    /// The configuration as it was at the start.
    let file: ConfigurationFile
    private let state: Locked<ServerState>
    let listeners: [HTTPServer]
    let reloads = OneAtATime<[String]>()
    /// Whether a reading of all keys failed because their store was away.
    let missesChanges = Locked(false)
    /// The address of each running listener.
    public let addresses: ServerAddresses

    /// Reads and checks a configuration file, opens the stores, and starts the listeners.
    ///
    /// No listener starts unless the whole configuration is valid. Log lines, one JSON object each, go to standard error.
    /// - Parameters:
    ///   - configuration: the `server.json`; `Documentation/Server/Settings.md` has its members.
    ///   - stores: the program's own stores, which replace the configuration's. Defaults to none.
    /// - Throws: `ServerProblems` with all faults; `Diagnosis` for a port in use.
    public convenience init(configuration: URL, stores: ServerStores = ServerStores()) async throws {
        let file = try await ConfigurationFile.read(configuration.path)
        try await self.init(file, engines: ServerEngines.open(file, given: stores))
    }

    /// Makes a tenant's first data key and seed: once for each new tenant, before a server starts with it. No start makes them, so that lost
    /// ones are noticed. A second time changes nothing. It is in the audit.
    /// - Parameters:
    ///   - name: a tenant of the configuration.
    ///   - configuration: the `server.json`.
    ///   - stores: the program's own stores, as the server gets them. Defaults to none.
    /// - Returns: false if the tenant had them before.
    /// - Throws: `ServerProblems`; `Diagnosis` for a name that the configuration does not have, and for keys in memory.
    @discardableResult
    public static func createTenant(
        _ name: String, configuration: URL, stores: ServerStores = ServerStores()
    ) async throws -> Bool {
        let file = try await ConfigurationFile.read(configuration.path)
        return try await KeySealing.create(name, in: file, given: stores).isNew
    }

    /// Reads, checks and starts. Listens only if everything is right.
    /// - Parameters:
    ///   - file: the configuration.
    ///   - lines: takes the log. Defaults to standard error.
    ///   - engines: the stores. Defaults to the configuration's.
    ///   - timekeeper: the clock of the whole server. Defaults to the machine's.
    ///   - front: answers before the player API does; for the media of a demonstration.
    /// - Throws: `ServerProblems`, `Diagnosis`.
    package convenience init(
        _ file: ConfigurationFile, lines: LineWriter = LineWriter(descriptor: 2), engines: ServerEngines? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper(),
        front: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil }
    ) async throws {
        OpenFileLimit.raise()
        let engines = if let engines { engines } else { try await ServerEngines.open(file, timekeeper: timekeeper) }
        do {
            let shared = try await ServerShared.read(file, engines, lines, timekeeper: timekeeper)
            let state = try await shared.builder(file).state()
            try await engines.keys.startBlocks()
            try await shared.openRecord(file)
            try shared.openReports(file)
            try self.init(file, shared, state, front)
            if let notice = OpenFileLimit.notice {
                shared.log.write(LogEntry(.warning, .configuration, message: notice))
            }
        } catch {
            engines.close()
            throw error
        }
    }

    private init(
        _ file: ConfigurationFile, _ shared: ServerShared, _ first: ServerState,
        _ front: @escaping @Sendable (HTTPRequest) -> HTTPResponse?
    ) throws {
        self.shared = shared
        self.file = file
        let state = Locked(first)
        self.state = state
        shared.show(first)
        let players = PlayerListener(shared: shared, state: { state.withLock { $0 } })
        let packagers = PackagerListener(shared: shared, state: { state.withLock { $0 } })
        let reload = Locked<(@Sendable () async throws -> [String])?>(nil)
        let operators = OperatorListener(
            shared: shared, state: { state.withLock { $0 } }, reload: { try await reload.withLock { $0 }?() ?? [] })
        let settings = first.settings
        let health = HealthListener(shared: shared, state: { state.withLock { $0 } })
        let servers =
            [
                // Its threads do the RSA work, so that a license does not change threads.
                HTTPServer(
                    file.http(settings.players, bodyBytes: PlayerAPI.bodyBytes), startTask: { shared.pool.task($0) },
                    work: shared.pool.work,
                    complete: { response, request in
                        let response = shared.counted(response, of: "players")
                        return request.map { state.withLock { $0 }.forPages(response, to: $0) } ?? response
                    }
                ) { request in front(request).map { .reply($0) } ?? players.begin(request) },
                HTTPServer(
                    file.http(settings.packagers, bodyBytes: PackagerAPI.bodyBytes),
                    startTask: { shared.packagers.threads.task($0) },
                    complete: { response, _ in shared.counted(response, of: "packagers") }
                ) { packagers.begin($0) },
                HTTPServer(
                    file.http(settings.operators, bodyBytes: PackagerAPI.bodyBytes, deadline: .seconds(60)),
                    startTask: { Task(operation: $0) },
                    complete: { response, _ in shared.counted(response, of: "operators") }
                ) { request in .task { await operators.answer(request) } },
            ]
            + [settings.health].compactMap { $0 }.map { settings in
                HTTPServer(
                    file.http(settings, bodyBytes: 0), startTask: { Task(operation: $0) },
                    complete: { response, _ in shared.counted(response, of: "health") }
                ) { request in .task { health.answer(request) } }
            }
        first.identities.show(servers)
        let ports = try HTTPServer.start(servers)
        listeners = servers
        addresses = ServerAddresses(
            players: .init(settings.players, ports[0]), packagers: .init(settings.packagers, ports[1]),
            operators: .init(settings.operators, ports[2]), health: settings.health.map { .init($0, ports[3]) })
        shared.record?.start()
        reload.withLock { $0 = { [weak self] in try await self?.reload() ?? [] } }
        shared.metrics.beforeText { [weak self] in
            guard let self else { return }
            self.shared.fillMetrics(self.current)
        }
    }

    /// Serves until the task is cancelled, then refuses new requests, finishes open ones, and closes the stores. Call it only once.
    public func run() async {
        let cancelled = Promise<Void, Never>()
        // Its end is waited for also by a task that is cancelled.
        let life = Task {
            await serve(
                notifier: nil, signals: { signal in cancelled.whenResolved { _ in _ = signal(SIGTERM) } }, ready: {})
        }
        await withTaskCancellationHandler {
            await life.value
        } onCancel: {
            cancelled.resolve(.success(()))
        }
    }

    /// The configuration in force.
    package var current: ServerState { state.withLock { $0 } }

    /// Reloads the configuration. A fault leaves the old one in force. Listeners use their new certificates and
    /// connection limits; otherwise they and the stores do not change.
    ///
    /// Reloads never overlap, because two could end with the older files in force. A call during a reload starts one more
    /// after it, and gets its result.
    /// - Returns: the members of the configuration that wait for a restart, which are also logged.
    /// - Throws: the fault, which is also logged.
    @discardableResult
    public func reload() async throws -> [String] { try await reloads.run { try await self.readAgain() } }

    private func readAgain() async throws -> [String] {
        do {
            let start = file.settings
            let file = try await file.readAgainOnThread()
            let waiting = file.settings.waitingForRestart(since: start)
            let notice = waiting.isEmpty ? nil : "Waiting for a restart: \(waiting.joined(separator: ", "))."
            let next = try await shared.builder(file, former: current).state(
                notices: [notice].compactMap { $0 })
            let former = state.withLock { state in
                defer { state = next }
                next.identities.show(listeners)
                for listener in listeners {
                    listener.connectionsPerAddress = next.settings.connectionsPerAddress
                    listener.keepAlive = next.settings.idleTime
                }
                return state
            }
            former.retire()
            // Changes that reached the former configuration while this one took over its knowledge.
            startTask { [weak self] in await self?.apply(.everything) }
            shared.show(next)
            shared.log.write(LogEntry(.info, .configuration, message: "The configuration was reloaded."))
            log(next.notices.filter { $0.text == notice || !former.notices.contains($0) }, .configuration)
            // In force also where the audit cannot be written: an outage may be why the configuration was changed. It is logged then.
            try? await shared.audit(
                .configurationLoaded, of: "configuration", by: "node:\(shared.node)",
                next.changes(since: former))
            return waiting
        } catch {
            shared.metrics.configurationIsLoaded.set(0)
            let known = error as? any DiagnosableError
            var entry = LogEntry(.error, .configuration, message: known?.reason ?? "\(type(of: error))")
            entry.reason = known?.code
            shared.log.write(entry)
            throw error
        }
    }

    /// Stops accepting, finishes open requests, and closes the stores. Waits for a running reload, because it needs the stores; later ones
    /// fail. `serve()` does not wait longer than the drain's deadline.
    /// - Parameter limit: how long open requests may take.
    package func stop(within limit: Duration = .seconds(10)) async {
        // A reload that hangs at a file ends with the time, and no license is begun after it.
        let (threads, pool, timekeeper) = (file.threads, shared.pool, shared.timekeeper)
        let patience = startTask {
            guard (try? await timekeeper.sleep(for: limit)) != nil else { return }
            pool.drain()
            threads.end()
        }
        await withTaskGroup { group in
            group.addTask { [reloads] in await reloads.end() }
            for listener in listeners { group.addTask { await listener.stop(within: limit) } }
        }
        patience.cancel()
        // Counts not shared in that time are lost, as after a kill.
        _ = try? await withDeadline(.seconds(1), shared.timekeeper, expired: { CancellationError() }) { [self] in
            await shareLicenses()
        }
        threads.end()
        current.retire()
        await shared.close()
    }
}

/// Where a server's listeners are.
public struct ServerAddresses: Sendable {
    /// Where a listener is.
    public struct Listener: Sendable {
        /// Such as `http://127.0.0.1:8443`.
        public let url: String

        init(_ listener: ServerSettings.Listener, _ port: UInt16) {
            let isEverywhere = ["0.0.0.0", "::"].contains(listener.address)
            let host = isEverywhere ? "127.0.0.1" : listener.address
            url =
                (listener.certificate == nil ? "http://" : "https://") + (host.contains(":") ? "[\(host)]" : host)
                + ":\(port)"
        }
    }

    /// Of the listener for players, of the one for packagers, and of the one for operators.
    public let players, packagers, operators: Listener
    /// Of the one for health and metrics, if the configuration has one.
    public let health: Listener?
}

extension ListenerIdentities {
    /// Gives the servers of players, packagers and operators their identities. A server that runs without TLS stays without it.
    fileprivate func show(_ servers: [HTTPServer]) {
        for (server, identity) in zip(servers, [players, packagers, operators]) {
            if let identity { server.use(identity) }
        }
    }
}

extension ServerShared {
    /// Counts a refusal that a listener makes itself.
    fileprivate func counted(_ refusal: HTTPResponse, of listener: String) -> HTTPResponse {
        metrics.httpRefusals[listener, "\(refusal.status)"].add()
        return refusal
    }
}

extension ServerSettings {
    /// The most connections of a listener.
    fileprivate static let connections = 16_384

    /// The most connections of a listener from one address. With proxies all may come from one.
    fileprivate var connectionsPerAddress: Int { trustedProxies.isEmpty ? 1_024 : Self.connections }

    /// How long a connection may wait for its next request. A proxy sends one at any time while it keeps the connection: 60 s, as a rule.
    fileprivate var idleTime: Duration { keepAlive ?? (trustedProxies.isEmpty ? .seconds(15) : .seconds(75)) }
}

extension ConfigurationFile {
    /// A listener's configuration, without its certificate.
    fileprivate func http(
        _ listener: ServerSettings.Listener, bodyBytes: Int, deadline: Duration = .seconds(10)
    ) -> HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.address = listener.address
        configuration.port = UInt16(clamping: listener.port)
        configuration.bodyBytes = bodyBytes
        // No more threads that read than threads that work: in a flood, refusals would take the processor from licenses.
        configuration.threads = settings.threads ?? configuration.threads
        configuration.connections = ServerSettings.connections
        configuration.connectionsPerAddress = settings.connectionsPerAddress
        configuration.keepAlive = settings.idleTime
        configuration.exchangeDeadline = deadline
        configuration.takesDoubtfulPaths = false
        return configuration
    }
}
