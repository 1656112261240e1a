package import LatchkeyCore
package import LatchkeyHTTP
package import LatchkeyServer

/// Leads requests to services and media, and keeps the journal.
package struct ServiceRouter: Sendable {
    package let services: [any VendorService]
    let journal = ExchangeJournal()
    private let media: MediaHost?
    private let address: String
    private let time: any Timekeeper
    private let log: @Sendable (String) -> Void

    /// - Parameter address: host and port that media name where a request does not say what it reached us by.
    package init(
        _ services: [any VendorService], media: MediaHost?, address: String, time: any Timekeeper,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.services = services
        self.media = media
        self.address = address
        self.time = time
        self.log = log
    }

    /// The exchanges in the order in which they ended; at least the latest 10,000.
    package var entries: [JournalEntry] { journal.entries }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let start = time.uptime
        let (response, service) = await answer(request)
        let entry = JournalEntry(
            method: String(request.method.prefix(20)),
            path: shown(request.target, service?.redaction ?? .standard),
            status: response.body == .reset ? nil : response.status, duration: time.uptime - start)
        journal.add(entry)
        log("\(entry)")
        return response
    }

    /// A target without secrets. Only a query or an absolute form can have some.
    private func shown(_ target: String, _ redaction: Redaction) -> String {
        guard target.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") }) else {
            return String(target.prefix(500))
        }
        return redaction.redacted(urlText: String(target.prefix(2_000)))
    }

    private func answer(_ request: HTTPRequest) async -> (HTTPResponse, (any VendorService)?) {
        if let below = request.below("/media") { return (self.media(below, request), nil) }
        for service in services {
            guard let below = request.below("/\(service.identifier)") else { continue }
            return (await service.respond(to: below), service)
        }
        let claiming = services.filter { $0.endpoint(of: request) != nil }
        guard let service = claiming.first else { return (.text("There is no such path.", status: 404), nil) }
        guard claiming.count == 1 else {
            let names = claiming.map { "/\($0.identifier)" }.joined(separator: ", ")
            return (.text("Several vendors have this path; ask below \(names).", status: 404), nil)
        }
        return (await service.respond(to: request), service)
    }

    private func media(_ below: HTTPRequest, _ request: HTTPRequest) -> HTTPResponse {
        guard let media else { return .text("There is no such path.", status: 404) }
        for service in services {
            guard let path = below.below("/\(service.identifier)") else { continue }
            let host = hostName(of: request)
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

    /// Host and port by which the client found us. HTTP/1.1 has the field always; what is no host is not repeated.
    private func hostName(of request: HTTPRequest) -> String {
        guard let host = request.headers["Host"], host.wholeMatch(of: /[A-Za-z0-9.\-:\[\]]{1,255}/) != nil else {
            return address
        }
        return host
    }
}
