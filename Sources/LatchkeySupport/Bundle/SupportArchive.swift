import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The recorded exchanges as HTTP Archive 1.2, which browsers' tools open. Members that begin with `_` are Latchkey's own.
///
/// Source: "HAR 1.2 Spec", softwareishard.com/blog/har-12-spec.
struct SupportArchive: Codable, Sendable {
    var log: Log

    struct Log: Codable, Sendable {
        var version = "1.2"
        var creator = Creator()
        var entries: [Entry]
    }

    struct Creator: Codable, Sendable {
        var name = "Latchkey"
        var version = "1"
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String
        /// In milliseconds.
        var time: Double
        var request: Request
        var response: Response
        var cache: [String: String] = [:]
        var timings: Timings
        /// The stage that the request served.
        var _stage: ContentKeyError.Stage
        /// The number of the key request; 0 for none.
        var _key: Int
        /// Why no reply came; `nil` if one did.
        var _error: String?
    }

    struct Request: Codable, Sendable {
        var method, url: String
        var httpVersion = "unknown"
        var cookies: [Field] = []
        var headers: [Field]
        var queryString: [Field] = []
        var postData: Body?
        var headersSize = -1
        var bodySize: Int
    }

    struct Response: Codable, Sendable {
        /// 0 if no reply came.
        var status: Int
        var statusText = ""
        var httpVersion = "unknown"
        var cookies: [Field] = []
        var headers: [Field] = []
        var content = Body()
        var redirectURL = ""
        var headersSize = -1
        var bodySize = -1
    }

    struct Field: Codable, Sendable { var name, value: String }

    struct Body: Codable, Sendable {
        var size: Int?
        var mimeType = "application/octet-stream"
        var text: String?
        var encoding: String?

        init() {}

        init(_ data: Data, _ type: String?, isReply: Bool) {
            size = isReply ? data.count : nil
            mimeType = type ?? mimeType
            let plain = String(data: data, encoding: .utf8)
            text = plain ?? data.base64EncodedString()
            encoding = plain == nil ? "base64" : nil
        }

        var data: Data {
            encoding == "base64" ? Data(base64Encoded: text ?? "") ?? Data() : Data((text ?? "").utf8)
        }
    }

    struct Timings: Codable, Sendable {
        var send = 0.0
        var wait: Double
        var receive = 0.0
    }
}

extension SupportArchive.Entry {
    /// The recorded reply; `nil` if none came.
    var reply: HTTPReply? {
        guard response.status > 0 else { return nil }
        return HTTPReply(
            status: response.status, headers: response.headers.map { ($0.name, $0.value) }, body: response.content.data)
    }

    /// An exchange, everything in it replaced that may be secret.
    /// - Parameter secrets: what was sent, and must not be here in any form.
    init(_ exchange: RecordedExchange, _ sanitizer: Sanitizer, hiding secrets: SecretForms) {
        func shown(_ text: String) -> String { secrets.scrubbed(text) }
        func body(_ data: Data) -> Data {
            let body = sanitizer.body(data)
            return String(data: body, encoding: .utf8).map { Data(shown($0).utf8) } ?? body
        }
        func fields(_ fields: [(name: String, value: String)]) -> [SupportArchive.Field] {
            fields.map {
                .init(
                    name: $0.name.isPlain ? $0.name.onOneLine : sanitizer.pseudonyms.value($0.name.onOneLine),
                    value: shown(sanitizer.value($0.value, ofField: $0.name)).onOneLine)
            }
        }
        let request = exchange.request
        let sent = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        startedDateTime = TraceFormat.date(exchange.date)
        (time, timings) = (exchange.milliseconds, .init(wait: exchange.milliseconds))
        self.request = SupportArchive.Request(
            method: request.httpMethod ?? "GET",
            url: shown(sanitizer.pseudonyms.url(request.url?.absoluteString ?? "")),
            headers: fields(sent),
            postData: request.httpBody.map {
                .init(
                    body($0),
                    request.value(forHTTPHeaderField: "Content-Type").map {
                        sanitizer.value($0, ofField: "content-type")
                    }, isReply: false)
            },
            bodySize: request.httpBody?.count ?? 0)
        switch exchange.outcome {
        case .reply(let reply):
            response = SupportArchive.Response(
                status: reply.status, headers: fields(reply.headers),
                content: .init(
                    body(reply.body), reply.header("content-type").map { sanitizer.value($0, ofField: "content-type") },
                    isReply: true),
                redirectURL: reply.header("location").map { shown(sanitizer.pseudonyms.url($0)) } ?? "",
                bodySize: reply.body.count)
            _error = nil
        case .noReply(let code):
            response = SupportArchive.Response(status: 0)
            _error = code
        }
        (_stage, _key) = (exchange.stage, exchange.number)
    }
}
