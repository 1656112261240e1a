import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// A HAR file, which anybody may have written: the parts that are read, of which few need to be there.
///
/// Source: HTTP Archive 1.2.
struct HTTPArchive: Decodable {
    let log: Log

    struct Log: Decodable { let entries: [Entry] }

    struct Entry: Decodable {
        let startedDateTime: String?
        let request: Request
        let response: Response?
        /// `nil` where another recorder's members differ.
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

    /// What Latchkey writes of an exchange and needs again.
    struct Own: Decodable {
        let time: Double?
        let _stage, _error: String?
        let _key: Int?
    }

    struct Request: Decodable {
        let method, url: String
        let headers: [Pair]?
        let postData: PostData?
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

    static func exchanges(_ data: Data) throws(Diagnosis) -> [RecordedExchange] {
        do {
            let json = RecordedBody.withoutLoneSurrogates(data)
            return Array(try JSONDecoder().decode(Self.self, from: json).exchanges.prefix(TrafficCapture.limit))
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
            body: sent.bytes.isEmpty ? nil : sent.bytes, gap: sent.gap)
        var exchange = RecordedExchange(asked, nil, at: date)
        (exchange.stage, exchange.number, exchange.code) = (own?._stage, own?._key, own?._error)
        exchange.milliseconds = own?.time ?? 0
        // Status 0 means that a request got no reply.
        guard let response, response.status > 0 else { return exchange }
        let headers = Self.fields(response.headers, nil)
        let hasBody = ![204, 304].contains(response.status) && request.method != "HEAD"
        let came = RecordedBody(
            text: response.content?.text, encoding: response.content?.encoding,
            stated: Self.length(response.content?.size) ?? (response.content?.text == nil ? Self.length(headers) : nil),
            mayBeMissing: hasBody)
        exchange.reply = HTTPReply(status: response.status, headers: headers, body: came.bytes)
        exchange.replyGap = hasBody ? came.gap : nil
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
        let stated = Self.length(request.bodySize) ?? Self.length(Self.fields(request.headers, nil))
        let data = request.postData
        if data?.text?.isEmpty != false, let fields = data?.params, !fields.isEmpty {
            let pairs = fields.map { "\($0.name)=\(Self.encoded($0.value ?? ""))" }
            return RecordedBody(
                text: pairs.joined(separator: "&"), encoding: nil, stated: nil, mayBeMissing: false)
        }
        let mayHaveBody = ["POST", "PUT", "PATCH"].contains(request.method.uppercased())
        return RecordedBody(
            text: data?.text, encoding: data?.encoding, stated: stated, mayBeMissing: mayHaveBody)
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

    /// A length that is known; −1 stands for one that is not.
    private static func length(_ number: Double?) -> Int? {
        number.flatMap { $0 >= 0 && $0 < 1e12 ? Int($0) : nil }
    }

    private static func length(_ fields: [(name: String, value: String)]) -> Int? {
        fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
    }
}
