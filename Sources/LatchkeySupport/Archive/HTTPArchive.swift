import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// A HAR file from any source: the parts that are read, few of which are required.
///
/// Source: HTTP Archive 1.2.
struct HTTPArchive: Decodable {
    let log: Log

    struct Log: Decodable {
        let creator: Creator?
        let entries: [Entry]
        /// HTTP Toolkit's: connections whose TLS it did not open.
        let _tlsErrors: [SealedConnection]?
    }

    struct Creator: Decodable { let name: String? }

    struct SealedConnection: Decodable { let hostname: String? }

    struct Entry: Decodable {
        let startedDateTime: String?
        let request: Request
        let response: Response?
        /// `nil` if another recorder's members differ.
        let own: Own?

        private enum Member: CodingKey { case startedDateTime, request, response }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            startedDateTime = try members.decodeIfPresent(String.self, forKey: .startedDateTime)
            request = try members.decode(Request.self, forKey: .request)
            response = try members.decodeIfPresent(Response.self, forKey: .response)
            own = try? Own(from: decoder)
        }
    }

    /// The values of an exchange that Latchkey writes and reads again.
    struct Own: Decodable {
        let time: Double?
        let _stage, _error: String?
        let _key: Int?
    }

    struct Request: Decodable {
        let method, url: String
        let headers: [Pair]?
        let postData: PostData?
        /// Bodies that do not fit into `postData`: HTTP Toolkit and pcapng-utils write bodies that are not text here.
        let _content: Content?
        let bodySize: Double?
    }

    struct Response: Decodable {
        let status: Int
        let headers: [Pair]?
        let content: Content?
    }

    struct PostData: Decodable {
        let mimeType, text, encoding: String?
        let params: [Pair]?
    }

    struct Content: Decodable {
        let size: Double?
        let text, encoding: String?
    }

    struct Pair: Decodable {
        let name: String
        let value: String?
    }

    var exchanges: [RecordedExchange] { log.entries.map(\.exchange) }

    /// The hosts to which the recorder saw connections, but no requests.
    var sealedHosts: [String] {
        let tunnels = log.entries.filter { $0.request.method.uppercased() == "CONNECT" }.map(\.request.url)
        let opened = Set(
            log.entries.filter { $0.request.method.uppercased() != "CONNECT" }.map { Self.host($0.request.url) })
        var seen: Set<String> = []
        return (tunnels.map(Self.host) + (log._tlsErrors ?? []).compactMap { $0.hostname?.lowercased() }).filter {
            !$0.isEmpty && !opened.contains($0) && seen.insert($0).inserted
        }
    }

    private static func host(_ url: String) -> String {
        let authority = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst(
            url.contains("://") ? 1 : 0)
        return authority.first.map { String($0).hostName } ?? ""
    }

    static func read(_ data: Data) throws(Diagnosis) -> HTTPArchive {
        do {
            return try JSONDecoder().decode(Self.self, from: RecordedBody.withoutLoneSurrogates(data))
        } catch {
            let (path, reason) = DecodingFailure.describe(error)
            throw Diagnosis(
                code: "captureMalformed", reason: "The HAR file cannot be read at \(path.jsonPlace): \(reason)",
                remedy: "Save the traffic again as HAR with content.")
        }
    }
}

extension HTTPArchive.Entry {
    fileprivate var exchange: RecordedExchange {
        let sent = sent
        let asked = RecordedRequest(
            method: request.method, url: request.url, headers: Self.fields(request.headers, request.postData?.mimeType),
            body: sent.bytes.isEmpty ? nil : sent.bytes,
            gap: sent.gap ?? (String(data: sent.bytes, encoding: .utf8).map(RemovedValue.isIn) == true ? .removed : nil)
        )
        var exchange = RecordedExchange(asked, nil, at: date)
        (exchange.stage, exchange.number, exchange.code) = (own?._stage, own?._key, own?._error)
        exchange.milliseconds = own?.time ?? 0
        // Status 0 means that a request got no reply.
        guard let response, response.status > 0 else { return exchange }
        let headers = Self.fields(response.headers, nil)
        let hasBody = ![204, 304].contains(response.status) && request.method != "HEAD"
        let text = response.content?.text
        let came = RecordedBody(
            text: text, encoding: response.content?.encoding,
            stated: Self.length(response.content?.size) ?? (text == nil ? Self.length(headers) : nil),
            sent: Self.length(headers), mayBeMissing: hasBody)
        exchange.reply = HTTPReply(status: response.status, headers: headers, body: came.bytes)
        exchange.replyGap = hasBody ? text.map(RemovedValue.isOne) == true ? .removed : came.gap : nil
        return exchange
    }

    /// When the recorder saw the request.
    private var date: Date? {
        startedDateTime.flatMap { text in
            [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()].lazy
                .compactMap { try? $0.parse(text) }.first
        }
    }

    private var sent: RecordedBody {
        let sent = Self.length(Self.fields(request.headers, nil))
        let data = request.postData
        let hasText = data?.text?.isEmpty == false
        if !hasText, let fields = data?.params, !fields.isEmpty {
            let pairs = fields.map { "\($0.name)=\(Self.encoded($0.value ?? ""))" }
            return RecordedBody(text: pairs.joined(separator: "&"), encoding: nil, stated: nil, mayBeMissing: false)
        }
        let mayHaveBody = ["POST", "PUT", "PATCH"].contains(request.method.uppercased())
        return RecordedBody(
            text: hasText ? data?.text : request._content?.text,
            encoding: hasText ? data?.encoding : request._content?.encoding,
            // Chrome's bodySize is the length of the text that it recorded.
            stated: sent ?? Self.length(request.bodySize), sent: sent, mayBeMissing: mayHaveBody)
    }

    /// Some recorders write the values of a form as they were sent, others decoded.
    private static func encoded(_ value: String) -> String { value.contains("%") ? value : value.percentEncoded }

    private static func fields(_ pairs: [HTTPArchive.Pair]?, _ type: String?) -> [(name: String, value: String)] {
        let fields = (pairs ?? []).map { ($0.name, $0.value ?? "") }
        guard let type, !type.isEmpty, !fields.contains(where: { $0.0.lowercased() == "content-type" }) else {
            return fields
        }
        return fields + [("Content-Type", type)]
    }

    /// A known length; −1 means unknown.
    private static func length(_ number: Double?) -> Int? {
        number.flatMap { $0 >= 0 && $0 < 1e12 ? Int($0) : nil }
    }

    private static func length(_ fields: [(name: String, value: String)]) -> Int? {
        fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
    }
}
