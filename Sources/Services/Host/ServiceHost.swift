public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// One HTTP server with several vendors' services and the media that go with them.
///
/// - `/<service>/…`: the service, at its vendor's own paths below its name;
/// - `/…`: the service whose vendor has the path, where exactly one does;
/// - `/media/…`: the media as they are;
/// - `/media/<service>/…`: the media with key URIs that lead to the service on this host.
public final class ServiceHost: Sendable {
    private let server: HTTPServer
    private let router: ServiceRouter

    /// - Parameters:
    ///   - services: the services, each with an identifier of its own.
    ///   - media: the media; nil serves none.
    ///   - configuration: address, port, TLS and limits.
    ///   - pool: the threads that requests are answered on; give the license authority's, and a license changes no thread. Swift's
    ///     own unless given.
    ///   - time: measures the exchanges; the machine's clock unless given.
    ///   - log: takes one line per exchange, without secrets; dropped unless given.
    public init(
        _ services: [any VendorService], media: MediaHost? = nil,
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        pool: WorkerPool? = nil, time: any Timekeeper = SystemTimekeeper(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        let router = ServiceRouter(services, media: media, address: configuration.address, time: time, log: log)
        self.router = router
        guard let pool else {
            server = HTTPServer(configuration) { await router.respond(to: $0) }
            return
        }
        server = HTTPServer(configuration, startTask: { pool.task($0) }) { await router.respond(to: $0) }
    }

    /// The services.
    public var services: [any VendorService] { router.services }

    /// The port while the host runs; nil otherwise.
    public var port: UInt16? { server.port }

    /// The exchanges in the order in which they ended; at least the latest 10,000.
    public var journal: [JournalEntry] { router.journal.entries }

    /// How many requests were answered.
    public var requestCount: Int { router.journal.count }

    /// Starts to listen.
    /// - Returns: the port, chosen by the system where the configuration says 0.
    /// - Throws: as `HTTPServer.start()`.
    @discardableResult
    public func start() throws(HTTPServerError) -> UInt16 { try server.start() }

    /// Stops: open exchanges may go on for a time.
    public func stop(within limit: Duration = .seconds(10)) async { await server.stop(within: limit) }
}
