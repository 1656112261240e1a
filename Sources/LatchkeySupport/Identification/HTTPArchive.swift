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
        let request: Request
        let response: Response?
    }

    struct Request: Decodable {
        let method, url: String
        let headers: [Pair]?
        let postData: PostData?
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

    struct Content: Decodable { let text, encoding: String? }

    struct Pair: Decodable {
        let name: String
        let value: String?
    }

    static func messages(_ data: Data) throws(Diagnosis) -> [TrafficCapture.Message] {
        do {
            let entries = try JSONDecoder().decode(Self.self, from: data).log.entries
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
        let captured = CapturedRequest(
            method: request.method, url: request.url, headers: Self.fields(request.headers, request.postData?.mimeType),
            body: request.postData.flatMap(Self.body))
        // Status 0 means that a request got no reply.
        guard let response, response.status > 0 else { return [.request(captured)] }
        let reply = HTTPReply(
            status: response.status, headers: Self.fields(response.headers, nil),
            body: Self.bytes(response.content?.text, response.content?.encoding) ?? Data())
        return [.request(captured), .reply(reply)]
    }

    private static func fields(_ pairs: [HTTPArchive.Pair]?, _ type: String?) -> [(name: String, value: String)] {
        let fields = (pairs ?? []).map { ($0.name, $0.value ?? "") }
        guard let type, !fields.contains(where: { $0.0.lowercased() == "content-type" }) else { return fields }
        return fields + [("Content-Type", type)]
    }

    private static func body(_ data: HTTPArchive.PostData) -> Data? {
        if let bytes = bytes(data.text, data.encoding), !bytes.isEmpty { return bytes }
        guard let fields = data.params, !fields.isEmpty else { return nil }
        return Data(fields.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&").utf8)
    }

    private static func bytes(_ text: String?, _ encoding: String?) -> Data? {
        guard let text else { return nil }
        return encoding == "base64" ? Data(base64Encoded: text) : Data(text.utf8)
    }
}
