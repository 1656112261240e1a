import Foundation
import Latchkey
import LatchkeyCore

// Members that begin with `_` are Latchkey's own.
extension HTTPArchive {
    /// A page of a file: exchanges that belong together.
    struct Page {
        let start: Date
        let title: String
        let exchanges: [RecordedExchange]
    }

    /// Exchanges with their header fields and bodies, unchanged.
    static func data(_ exchanges: [RecordedExchange]) -> Data { data(exchanges.map { Written($0) }, pages: nil) }

    /// Exchanges without header fields and bodies.
    static func data(_ pages: [Page]) -> Data {
        let numbered = pages.enumerated().map { (id: "page_\($0.offset + 1)", page: $0.element) }
        let heads = numbered.map { id, page -> JSON in
            let start = TraceFormat.date(page.start)
            return ["startedDateTime": start, "id": id, "title": page.title, "pageTimings": [:] as JSON]
        }
        return data(numbered.flatMap { id, page in page.exchanges.map { Written($0, page: id) } }, pages: heads)
    }

    private static func data(_ entries: [Written], pages: [JSON]?) -> Data {
        let sorted = entries.sorted { $0.date < $1.date }.map(\.json)
        let log: JSON = [
            "version": "1.2", "creator": ["name": "Latchkey", "version": "1"], "pages": pages, "entries": sorted,
        ]
        return TraceJSON.data(["log": log])
    }
}

/// An exchange as an entry.
private struct Written {
    let exchange: RecordedExchange
    /// The page that it belongs to; if `nil`, header fields and bodies are written.
    var page: String?

    init(_ exchange: RecordedExchange, page: String? = nil) { (self.exchange, self.page) = (exchange, page) }

    var date: String { exchange.date.map(TraceFormat.date) ?? "" }

    var json: JSON {
        [
            "pageref": page, "startedDateTime": date, "time": exchange.milliseconds, "request": request,
            "response": response, "cache": [:] as JSON,
            "timings": ["send": 0.0, "wait": exchange.milliseconds, "receive": 0.0] as JSON,
            "_stage": exchange.stage, "_attempt": exchange.attempt, "_key": exchange.number,
            "_requestId": exchange.requestID, "_error": exchange.code,
        ]
    }

    private var request: JSON {
        let url = exchange.request?.url ?? ""
        let body = page == nil ? exchange.request?.body : nil
        let data = body.map { Self.body($0, exchange.request?.header("Content-Type")) }
        let items = page == nil ? [] : Self.items(of: url)
        return [
            "method": exchange.request?.method, "url": page == nil ? url : Self.ascii(url), "httpVersion": "unknown",
            "cookies": [] as [JSON], "headers": fields(exchange.request?.headers), "queryString": items,
            "postData": data, "headersSize": -1, "bodySize": exchange.sentBytes ?? 0,
        ]
    }

    /// Status 0 if no reply came.
    private var response: JSON {
        let reply = exchange.reply
        let size = page == nil ? nil : exchange.receivedBytes ?? 0
        let summary: JSON = ["size": size, "mimeType": Self.anyType]
        let whole = page == nil ? reply.map { Self.body($0.body, $0.header("Content-Type"), size: $0.body.count) } : nil
        return [
            "status": reply?.status ?? 0, "statusText": "", "httpVersion": "unknown", "cookies": [] as [JSON],
            "headers": fields(reply?.headers), "content": whole ?? summary,
            "redirectURL": reply?.header("Location") ?? "", "headersSize": -1, "bodySize": exchange.receivedBytes ?? -1,
        ]
    }

    private func fields(_ fields: [(name: String, value: String)]?) -> [JSON] {
        page == nil ? (fields ?? []).map { ["name": $0.name, "value": $0.value] } : []
    }

    private static let anyType = "application/octet-stream"

    private static func body(_ data: Data, _ type: String?, size: Int? = nil) -> JSON {
        let text = String(data: data, encoding: .utf8)
        return [
            "size": size, "mimeType": type ?? anyType, "text": text ?? data.base64EncodedString(),
            "encoding": text == nil ? "base64" : nil,
        ]
    }

    /// An address may contain only ASCII.
    private static func ascii(_ url: String) -> String {
        url.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    private static let allowed = CharacterSet(charactersIn: Unicode.Scalar(0x21)...Unicode.Scalar(0x7e))

    private static func items(of url: String) -> [JSON] {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else { return [] }
        return query.split(separator: "&").map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return ["name": pair.first ?? "", "value": pair.count > 1 ? pair[1] : ""]
        }
    }
}
