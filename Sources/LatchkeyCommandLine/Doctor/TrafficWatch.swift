import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTerminal
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Notes a transport's behavior: servers' clock offsets, slow exchanges, targets of redirects, messages of refusals, and whether a secret
/// was sent.
final class TrafficWatch: Transport {
    /// The notes.
    struct Notes: Sendable {
        /// How far each host's clock, by host and port, is ahead, in seconds; off by at most the time of a reply.
        var aheadByHost: [String: Double] = [:]
        /// The longest time that each host took to answer.
        var slowestByHost: [String: Duration] = [:]
        /// The target of the last redirect, without its query; `nil` if the last reply was not a redirect.
        var redirect: (status: Int, target: String)?
        /// The last reply; `nil` if none came.
        var lastReply: HTTPReply?
        /// The target of the last request, without its query; `nil` before the first.
        var lastAddress: String?
        /// Whether a request with an SPC or a credential was sent.
        var sentSecrets = false
    }

    private let base: any Transport
    private let timekeeper: any Timekeeper
    private let secrets: [Data]
    private let state = Locked(Notes())

    /// - Parameter secrets: the texts whose sending is noted; a body is always noted.
    init(
        _ base: any Transport = SystemTransport(), timekeeper: any Timekeeper = SystemTimekeeper(),
        secrets: [Secret] = []
    ) {
        self.base = base
        self.timekeeper = timekeeper
        self.secrets = secrets.map(\.revealed).filter { !$0.isEmpty }
    }

    var notes: Notes { state.withLock { $0 } }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        let isSecret = carriesSecret(request)
        state.withLock { ($0.redirect, $0.lastReply, $0.lastAddress) = (nil, nil, request.url.map(Self.shown)) }
        let start = timekeeper.uptime
        do {
            let reply = try await base.send(request, bodyLimit: bodyLimit)
            if isSecret { noteSecret() }
            note(reply, to: request, after: timekeeper.uptime - start)
            return reply
        } catch let error as TransportError {
            // Without a connection nothing was sent.
            if isSecret, !Self.beforeSending.contains(error.kind) { noteSecret() }
            throw error.naming(request.url)
        }
    }

    private static let beforeSending: Set<Diagnosis.Kind> = [
        .offline, .hostNotFound, .cannotConnect, .tlsFailed, .serverCertificateUntrusted, .serverCertificateExpired,
        .serverNameMismatch, .serverWithoutTLS, .requestMalformed,
    ]

    private func noteSecret() { state.withLock { $0.sentSecrets = true } }

    func warm(_ origin: URL) async throws -> Bool { try await base.warm(origin) }

    private func note(_ reply: HTTPReply, to request: URLRequest, after time: Duration) {
        guard let url = request.url, let name = url.host else { return }
        let host = url.port.map { "\(name):\($0)" } ?? name
        let ahead = reply.date?.timeIntervalSince(timekeeper.date)
        let location = (300..<400).contains(reply.status) ? reply.header("location") : nil
        let target = location.flatMap { URL(string: $0, relativeTo: request.url) }.map(Self.shown)
        state.withLock { notes in
            notes.aheadByHost[host] = ahead ?? notes.aheadByHost[host]
            notes.slowestByHost[host] = max(time, notes.slowestByHost[host] ?? .zero)
            notes.redirect = target.map { (reply.status, $0) }
            notes.lastReply = reply
        }
    }

    /// An address without user and query, which may hold a token under any name.
    private static func shown(_ url: URL) -> String {
        String(Redaction.standard.redacted(url.absoluteURL).prefix { $0 != "?" && $0 != "#" }.prefix(200))
    }

    /// Whether a request holds an SPC or a credential: a license request always has a body, and a credential may also be in the address or
    /// in a header.
    func carriesSecret(_ request: URLRequest) -> Bool {
        if request.httpBody?.isEmpty == false { return true }
        let places = [request.url?.absoluteString ?? ""] + (request.allHTTPHeaderFields ?? [:]).values
        return places.contains(where: isSecret)
    }

    /// Whether a text holds a credential, as it is or escaped.
    func isSecret(_ place: String) -> Bool {
        secrets.contains { secret in
            let text = String(decoding: secret, as: UTF8.self)
            let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
            return place.contains(text) || place.contains(escaped)
        }
    }
}

extension TransportError {
    /// The error with the host in its words.
    fileprivate func naming(_ url: URL?) -> TransportError {
        guard let host = url?.host, !reason.contains(host) else { return self }
        return TransportError(kind, "\(host.prefix(200)): \(reason)")
    }
}
