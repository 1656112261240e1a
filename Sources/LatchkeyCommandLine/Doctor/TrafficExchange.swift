import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A recorded exchange and the recognized contents of its bodies.
struct TrafficExchange: Sendable {
    /// The request's place in the capture, from 1.
    let number: Int
    let request: RecordedRequest
    let address: RecordedAddress
    let reply: HTTPReply?
    /// Why the recorded body differs from the reply's; `nil` if it does not.
    let replyGap: BodyGap?
    /// When the recorder saw the request.
    let date: Date?
    /// The contents of the request and of the reply.
    let sent, came: Recognition

    /// A capture's exchanges, in order.
    static func all(in capture: TrafficCapture) -> [TrafficExchange] {
        zip(capture.exchanges, capture.recognized).reduce(into: []) { exchanges, recorded in
            guard let request = recorded.0.request else { return }
            exchanges.append(TrafficExchange(request, recorded.0, recorded.1, number: exchanges.count + 1))
        }
    }

    private init(
        _ request: RecordedRequest, _ recorded: RecordedExchange, _ found: (sent: Recognition, came: Recognition),
        number: Int
    ) {
        (self.request, self.number, address) = (request, number, RecordedAddress(request.url))
        (reply, replyGap, date) = (recorded.reply, recorded.replyGap, recorded.date)
        (sent, came) = found
    }
}

extension TrafficExchange {
    /// The form of the request's body.
    var shape: BodyShape { BodyShape(request, sent) }

    /// In uppercase.
    var method: String { request.method.uppercased() }

    var pair: HTTPExchange? {
        guard let reply, let url = URL(string: request.url) else { return nil }
        return HTTPExchange(request: URLRequest(url: url), reply: reply)
    }

    /// Whether a playlist was requested or received.
    var isOfPlaylist: Bool {
        if let reply {
            let start = reply.body.prefix(16)
            if start.starts(with: Data("#EXTM3U".utf8)) || start.dropFirst(3).starts(with: Data("#EXTM3U".utf8)) {
                return true
            }
            if reply.header("content-type")?.lowercased().contains("mpegurl") == true { return true }
        }
        return method == "GET" && [".m3u8", ".m3u"].contains { address.path.lowercased().hasSuffix($0) }
    }

    /// Whether the reply leads to an address that was requested later.
    func isHop(before exchanges: [TrafficExchange]) -> Bool {
        guard let reply, (300..<400).contains(reply.status), let target = reply.header("location"),
            let place = URL(string: target, relativeTo: URL(string: request.url))?.absoluteString
        else { return false }
        return exchanges.contains { $0.number > number && $0.request.url == place }
    }

    /// Method and address without possible secrets.
    var shown: String {
        let front = Redaction.standard.redacted(urlText: request.url).prefix { $0 != "?" && $0 != "#" }
        return "\(request.method.prefix(10)) \(front.prefix(120))".visible
    }
}

/// The parts of a recorded address, cut as text, because a recorder may have written anything.
struct RecordedAddress: Sendable {
    /// In lowercase.
    let scheme: String
    /// With the port, without a user, in lowercase.
    let host: String
    let path: String
    /// Decoded.
    let items: [(name: String, value: String)]

    init(_ url: String) {
        let parts = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let front = String(parts.first ?? "")
        let mark = front.range(of: "://", options: .literal)
        scheme = String(mark.map { front[..<$0.lowerBound] } ?? front.prefix { $0 != ":" }).lowercased()
        let behind = mark.map { front[$0.upperBound...] } ?? front[...]
        let authority = behind.prefix { $0 != "/" }
        host = (authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "").lowercased()
        path = String(behind.drop { $0 != "/" })
        items = parts.dropFirst().flatMap { $0.split(separator: "&").prefix(256) }.map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value = halves.count > 1 ? halves[1] : ""
            return (halves[0].removingPercentEncoding ?? halves[0], value.removingPercentEncoding ?? value)
        }
    }

    /// Without its query and without possible secrets.
    var shown: String {
        Redaction.standard.redacted(urlText: host.isEmpty ? path : "\(scheme)://\(host)\(path)").prefix(200).description
    }

    /// The host without its port.
    var hostName: String { String(host.prefix { $0 != ":" }) }

    func value(of name: String) -> String? { items.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// Whether two addresses differ at most in query and scheme.
    func isPlace(of other: RecordedAddress) -> Bool { host == other.host && Self.bare(path) == Self.bare(other.path) }

    private static func bare(_ path: String) -> Substring {
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        return path
    }
}
