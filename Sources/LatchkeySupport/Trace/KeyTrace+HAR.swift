import Foundation
import LatchkeyCore

extension KeyTrace {
    /// HTTP Archive 1.2: the requests, without header fields and bodies, which hold the secrets.
    ///
    /// Source: "HAR 1.2 Spec", softwareishard.com/blog/har-12-spec.
    var archive: Data {
        let exchanges = exchanges.filter { $0.spans.contains { $0.request != nil } }
        let pages = exchanges.enumerated().map { TraceArchive.Page($0.element, number: $0.offset + 1) }
        let entries = exchanges.enumerated().flatMap { index, exchange in
            exchange.spans.compactMap { TraceArchive.Entry($0, page: "page_\(index + 1)") }
        }
        let sorted = entries.sorted { $0.startedDateTime < $1.startedDateTime }
        return TraceJSON.data(TraceArchive(log: .init(pages: pages, entries: sorted)))
    }
}

private struct TraceArchive: Encodable {
    let log: Log

    struct Log: Encodable {
        let version = "1.2"
        let creator = Creator()
        let pages: [Page]
        let entries: [Entry]
    }

    struct Creator: Encodable {
        let name = "Latchkey"
        let version = "1"
    }

    struct Page: Encodable {
        let startedDateTime, id, title: String
        let pageTimings = Timings()

        struct Timings: Encodable {}
    }

    struct Entry: Encodable {
        let pageref, startedDateTime: String
        /// In milliseconds.
        let time: Double
        let request: Request
        let response: Response
        let cache = Cache()
        let timings: Timings
        let _stage: String?
        let _attempt: Int?
        let _requestId: String?
        let _error: String?

        struct Cache: Encodable {}
    }

    struct Request: Encodable {
        let method, url: String
        let httpVersion = "unknown"
        let cookies: [Pair] = []
        let headers: [Pair] = []
        let queryString: [Pair]
        let headersSize = -1
        let bodySize: Int
    }

    struct Response: Encodable {
        /// 0 if no reply came.
        let status: Int
        let statusText = ""
        let httpVersion = "unknown"
        let cookies: [Pair] = []
        let headers: [Pair] = []
        let content: Content
        let redirectURL = ""
        let headersSize = -1
        let bodySize: Int
    }

    struct Content: Encodable {
        let size: Int
        let mimeType = "application/octet-stream"
    }

    struct Pair: Encodable { let name, value: String }

    struct Timings: Encodable {
        let send = 0.0
        let wait: Double
        let receive = 0.0
    }
}

extension TraceArchive.Page {
    init(_ exchange: TraceExchange, number: Int) {
        startedDateTime = TraceFormat.date(exchange.start)
        id = "page_\(number)"
        let identity = exchange.identity
        let title = [identity.owner, identity.key].filter { !$0.isEmpty }.joined(separator: " · ")
        self.title = title.isEmpty ? "beside the keys" : title
    }
}

extension TraceArchive.Entry {
    /// - Returns: `nil` for a span that is no request.
    init?(_ span: TraceSpan, page: String) {
        guard let made = span.request else { return nil }
        let milliseconds = (span.length.inMilliseconds * 1_000).rounded() / 1_000
        pageref = page
        startedDateTime = TraceFormat.date(span.start)
        time = milliseconds
        request = TraceArchive.Request(
            method: made.method, url: Self.ascii(made.url), queryString: Self.items(of: made.url),
            bodySize: made.sentBytes ?? 0)
        response = TraceArchive.Response(
            status: made.status ?? 0, content: .init(size: made.receivedBytes ?? 0), bodySize: made.receivedBytes ?? -1)
        timings = TraceArchive.Timings(wait: milliseconds)
        (_stage, _attempt) = (span.stage.isEmpty ? nil : span.stage, span.attempt)
        (_requestId, _error) = (made.requestID, span.code)
    }

    /// An address may hold ASCII alone.
    private static func ascii(_ url: String) -> String {
        url.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    private static let allowed = CharacterSet(charactersIn: Unicode.Scalar(0x21)...Unicode.Scalar(0x7e))

    private static func items(of url: String) -> [TraceArchive.Pair] {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else { return [] }
        return query.split(separator: "&").map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return TraceArchive.Pair(name: pair.first ?? "", value: pair.count > 1 ? pair[1] : "")
        }
    }
}
