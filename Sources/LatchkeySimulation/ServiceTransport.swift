public import Latchkey
public import LatchkeyCore
import LatchkeyHTTP
public import LatchkeyMedia
public import LatchkeyServices
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Carries requests to emulated services in the same process, without a socket, so that days of a simulated clock take
/// milliseconds.
///
/// The services see the same requests as behind a `ServiceHost`, below the same paths. There is one host; all others are
/// unknown. Safe to use from any number of tasks.
public struct ServiceTransport: Transport {
    /// Called when a request reaches the services; the returned closure is called when their reply is ready.
    public typealias Hold = @Sendable () -> @Sendable () -> Void

    /// The name of the only host.
    public let host: String

    private let router: ServiceRouter
    private let faults: NetworkFaults
    private let timekeeper: any Timekeeper
    private let generator: Locked<SeededGenerator>
    private let hold: Hold

    /// - Parameters:
    ///   - services: the services, each with a unique identifier.
    ///   - media: the media; `nil` serves none.
    ///   - host: the host's name; requests name it with http or https, and no port.
    ///   - faults: the faults of the network.
    ///   - timekeeper: counts delays and outages.
    ///   - hold: informs a simulated clock that services work on their own threads, and that time has to stop until they are
    ///     done. A service that answers late because of `Fault.delay` sleeps meanwhile, so use `NetworkFaults.delay`.
    public init(
        _ services: [any VendorService], media: MediaHost? = nil, host: String = "services.test",
        faults: NetworkFaults = NetworkFaults(), timekeeper: any Timekeeper = SystemTimekeeper(),
        hold: @escaping Hold = { {} }
    ) {
        self.host = host
        self.faults = faults
        self.timekeeper = timekeeper
        self.hold = hold
        router = ServiceRouter(services, media: media, address: host, time: timekeeper) { _ in }
        generator = Locked(SeededGenerator(seed: faults.seed))
    }

    /// The base address of a service, for `VendorService.parameters(at:)`.
    public func address(of service: any VendorService) -> String { "https://\(host)/\(service.identifier)" }

    /// The latest 10,000 exchanges, in the order in which they ended. Includes lost replies, but not requests that did not
    /// reach a service.
    public var journal: [JournalEntry] { router.entries }

    public func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try Task.checkCancellation()
        let fate = fate()
        if faults.delay > .zero { try await timekeeper.sleep(for: faults.delay) }
        guard request.url?.host == host else { throw TransportError(.hostNotFound, "The host is unknown.") }
        guard !faults.outages.contains(where: { $0.contains(timekeeper.uptime) }) else {
            throw TransportError(.cannotConnect, "There is no connection.")
        }
        guard fate != .requestLost else { throw Self.connectionLost }
        let response = await reply(to: HTTPRequest(request))
        try Task.checkCancellation()
        guard fate != .replyLost, let body = try Self.body(of: response, limit: bodyLimit) else {
            throw Self.connectionLost
        }
        return HTTPReply(
            url: request.url, status: response.status,
            headers: response.headers.fields.map { ($0.name.rawValue, $0.value) },
            body: request.httpMethod == "HEAD" ? Data() : body)
    }

    private func reply(to request: HTTPRequest) async -> HTTPResponse {
        let done = hold()
        defer { done() }
        return await router.respond(to: request)
    }

    private enum Fate { case arrives, requestLost, replyLost }

    private func fate() -> Fate {
        let number = generator.withLock { Double.random(in: 0..<1, using: &$0) }
        return number >= faults.lossRate ? .arrives : number < faults.lossRate / 2 ? .requestLost : .replyLost
    }

    /// - Returns: `nil` for a connection that was reset.
    private static func body(of response: HTTPResponse, limit: Int) throws -> Data? {
        let bytes: Data
        switch response.body {
        case .reset, .stream: return nil
        case .bytes(let data): bytes = data
        case .file(let path, let offset, let count):
            guard count <= limit else { throw tooLarge(limit) }
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seek(toOffset: offset)
            bytes = try file.read(upToCount: Int(count)) ?? Data()
        }
        guard bytes.count <= limit else { throw tooLarge(limit) }
        return bytes
    }

    private static let connectionLost = TransportError(
        .connectionLost, "The connection ended before the reply did.")

    private static func tooLarge(_ limit: Int) -> TransportError {
        TransportError(.bodyTooLarge, "The reply is larger than \(limit) bytes.")
    }
}

extension HTTPRequest {
    /// The request as an HTTP server would see it.
    fileprivate init(_ request: URLRequest) {
        let body = request.httpBody ?? Data()
        var headers = HTTPHeaders(
            (request.allHTTPHeaderFields ?? [:]).map { .init(name: HTTPHeaderName($0.key), value: $0.value) })
        headers[.host] = request.url?.host
        if !body.isEmpty { headers[.contentLength] = "\(body.count)" }
        self.init(
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"),
            target: Self.target(request.url?.absoluteString ?? ""),
            headers: headers,
            body: body, remoteAddress: "127.0.0.1")
    }

    /// The part after scheme and authority, unchanged; a fragment stays with the client.
    private static func target(_ url: String) -> String {
        let address = url.prefix { $0 != "#" }
        let authority = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        let target = address[authority...].drop { $0 != "/" && $0 != "?" }
        return target.hasPrefix("/") ? String(target) : "/\(target)"
    }
}
