import Foundation
import LatchkeyCore
import LatchkeyVendors

/// The parts of a HAR file that identification needs.
///
/// Source: HTTP Archive 1.2.
struct HTTPArchive: Decodable {
    let log: Log

    struct Log: Decodable { let entries: [Entry] }

    struct Entry: Decodable {
        let startedDateTime: String?
        let request: Request
        let response: Response?
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

    static func messages(_ data: Data) throws(Diagnosis) -> [TrafficCapture.Message] {
        do {
            let json = RecordedBody.withoutLoneSurrogates(data)
            let entries = try JSONDecoder().decode(Self.self, from: json).log.entries
            return Array(entries.flatMap(\.messages).prefix(TrafficCapture.limit))
        } catch {
            let (path, reason) = DecodingFailure.describe(error)
            throw Diagnosis(
                code: "captureMalformed", reason: "The HAR file cannot be read at \(path.jsonPlace): \(reason)",
                remedy: "Save the traffic again as HAR with content.")
        }
    }
}

extension HTTPArchive.Entry {
    fileprivate var messages: [TrafficCapture.Message] {
        let sent = sent
        let captured = CapturedRequest(
            method: request.method, url: request.url, headers: Self.fields(request.headers, request.postData?.mimeType),
            body: sent.bytes.isEmpty ? nil : sent.bytes, gap: sent.gap, date: date)
        // Status 0 means that a request got no reply.
        guard let response, response.status > 0 else { return [.request(captured)] }
        let headers = Self.fields(response.headers, nil)
        let hasBody = ![204, 304].contains(response.status) && request.method != "HEAD"
        let came = RecordedBody(
            text: response.content?.text, encoding: response.content?.encoding,
            stated: Self.length(response.content?.size) ?? (response.content?.text == nil ? Self.length(headers) : nil),
            mayBeMissing: hasBody)
        let reply = HTTPReply(status: response.status, headers: headers, body: came.bytes)
        return [.request(captured), .reply(reply, hasBody ? came.gap : nil)]
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
