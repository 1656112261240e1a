public import LatchkeyCore
public import LatchkeyHTTP
package import LatchkeyMedia

/// One HTTP server with several vendors' services and their media.
///
/// - `/<service>/…`: the service, with its vendor's own paths below its name;
/// - `/…`: the service whose vendor has the path, if exactly one does;
/// - `/media/…`: the media, unchanged;
/// - `/media/<service>/…`: the media with key URIs that lead to the service on this host.
///
/// Every reply allows pages of any origin to read it, and every path answers preflight requests, because browsers play from the host.
public final class ServiceHost: Sendable {
    private let server: HTTPServer
    private let router: ServiceRouter

    /// - Parameters:
    ///   - services: the services, with distinct identifiers.
    ///   - media: the media. Defaults to none.
    ///   - front: answers requests before services and media do, such as `/health`; returns `nil` for all others. Defaults to
    ///     answering none.
    ///   - configuration: address, port, TLS and limits.
    ///   - pool: the threads that answer requests. With the pool of the license authority, a license does not change threads. Defaults
    ///     to Swift's own threads.
    ///   - time: measures the exchanges. Defaults to the machine's clock.
    ///   - log: takes one line per exchange, without secrets. Defaults to nothing.
    public init(
        _ services: [any VendorService], media: MediaHost? = nil,
        front: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        pool: WorkerPool? = nil, time: any Timekeeper = SystemTimekeeper(),
        log: (@Sendable (String) -> Void)? = nil
    ) {
        let router = ServiceRouter(
            services, media: media, front: front, address: configuration.address, time: time, log: log)
        self.router = router
        server = HTTPServer(
            configuration, startTask: { pool?.task($0) ?? Task(operation: $0) }, work: pool?.work,
            complete: { refusal, _ in CrossOrigin.allowed(refusal) }
        ) { request in .task { await router.respond(to: request) } }
    }

    /// The services.
    public var services: [any VendorService] { router.services }

    /// The port while the host runs; `nil` otherwise.
    public var port: UInt16? { server.port }

    /// The latest 10,000 exchanges in the order in which they ended.
    public var journal: [JournalEntry] { router.journal.entries }

    /// The number of requests answered.
    public var requestCount: Int { router.journal.count }

    /// Starts listening.
    /// - Returns: the port; the system chooses it if the configuration says 0.
    /// - Throws: as `HTTPServer.start()`.
    @discardableResult
    public func start() throws(Diagnosis) -> UInt16 { try server.start() }

    /// Stops the server. Open exchanges may continue for a time.
    public func stop(within limit: Duration = .seconds(10)) async { await server.stop(within: limit) }
}
