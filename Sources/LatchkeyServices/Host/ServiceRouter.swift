package import LatchkeyCore
package import LatchkeyHTTP
package import LatchkeyMedia

/// Passes requests to services and media, and keeps the journal.
package struct ServiceRouter: Sendable {
    private let mounted: [MountedService]
    let journal = ExchangeJournal()
    private let media: MediaHost?
    private let front: @Sendable (HTTPRequest) -> HTTPResponse?
    private let address: String
    private let time: any Timekeeper
    private let log: (@Sendable (String) -> Void)?

    /// - Parameter address: host and port in the key URIs of media if a request does not name its host.
    package init(
        _ services: [any VendorService], media: MediaHost?,
        front: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil }, address: String,
        time: any Timekeeper, log: (@Sendable (String) -> Void)?
    ) {
        mounted = services.map { MountedService($0) }
        self.media = media
        self.front = front
        self.address = address
        self.time = time
        self.log = log
    }

    package var services: [any VendorService] { mounted.map(\.service) }

    /// The latest 10,000 exchanges in the order in which they ended.
    package var entries: [JournalEntry] { journal.entries }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let start = time.uptime
        let (answered, service) = await answer(request)
        let response = CrossOrigin.allowed(answered)
        let entry = JournalEntry(
            method: String(request.method.rawValue.prefix(20)),
            path: shown(request.target, service?.redaction ?? .standard),
            status: response.body == .reset ? nil : response.status, duration: time.uptime - start,
            requestID: response.headers[.requestID], end: time.date)
        journal.add(entry)
        log?("\(entry)")
        return response
    }

    /// A target for the journal: shortened, and without secrets.
    private func shown(_ target: String, _ redaction: Redaction) -> String {
        Self.shortened(redaction.redacted(urlText: String(target.prefix(2_000))))
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count <= 300 ? text : String(decoding: text.utf8.prefix(300), as: UTF8.self) + "…"
    }

    private func answer(_ request: HTTPRequest) async -> (HTTPResponse, (any VendorService)?) {
        if let reply = CrossOrigin.preflight(request) ?? front(request) { return (reply, nil) }
        if let below = request.below("/media") { return (self.media(below, request), nil) }
        for mounted in mounted {
            guard let below = request.below("/\(mounted.service.identifier)") else { continue }
            return (await mounted.respond(to: below), mounted.service)
        }
        var only: (mounted: MountedService, match: Router<ServiceHandler>.Match)?
        var others: [String] = []
        for mounted in mounted {
            let match = mounted.match(request)
            if case .notFound = match { continue }
            if only == nil { only = (mounted, match) } else { others.append("/\(mounted.service.identifier)") }
        }
        guard let (only, match) = only else { return (.noSuchPath, nil) }
        guard others.isEmpty else {
            let names = (["/\(only.service.identifier)"] + others).joined(separator: ", ")
            return (.text("Several vendors have this path; ask below \(names).", status: 404), nil)
        }
        return (await only.respond(to: request, by: match), only.service)
    }

    private func media(_ below: HTTPRequest, _ request: HTTPRequest) -> HTTPResponse {
        guard let media else { return .noSuchPath }
        for service in services {
            guard let path = below.below("/\(service.identifier)") else { continue }
            let host = request.hostName ?? address
            let keys = service.environment.authority.keys
            return media.respond(
                to: path,
                rewriting: PlaylistKeyRewriting { uri in
                    guard case .one(let key) = keys.key(named: uri.raw) else { return nil }
                    return service.keyURI(for: key, at: host)
                })
        }
        return media.respond(to: below)
    }
}
