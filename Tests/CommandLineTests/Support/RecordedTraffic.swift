import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine

/// A HAR file that a test writes, as facts: the requests, the replies, and how the recorder wrote them.
struct RecordedTraffic {
    /// How a recorder writes a body.
    enum Body {
        case text(String)
        case base64(Data)
        /// Each byte as a character.
        case characters(Data)
        /// Bytes read as UTF-8, which loses some.
        case lossy(Data)
        /// Not written, with its length.
        case absent(Int)
        case none

        fileprivate var written: (text: String?, encoding: String?, size: Int) {
            switch self {
            case .text(let text): (text, nil, text.utf8.count)
            case .base64(let data): (data.base64EncodedString(), "base64", data.count)
            case .characters(let data):
                (String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) })), nil, data.count)
            case .lossy(let data): (String(decoding: data, as: UTF8.self), nil, data.count)
            case .absent(let size): (nil, nil, size)
            case .none: (nil, nil, 0)
            }
        }
    }

    var entries: [[String: Any]] = []

    /// Adds a request, and its reply if the status is not 0.
    func adding(
        _ method: String, _ url: String, _ headers: [String: String] = [:], _ body: Body = .none, status: Int,
        _ replyHeaders: [String: String] = [:], _ reply: Body = .none, date: String? = nil
    ) -> Self {
        var request: [String: Any] = ["method": method, "url": url, "headers": Self.pairs(headers)]
        let sent = body.written
        request["bodySize"] = sent.size
        if let text = sent.text {
            var data: [String: Any] = ["mimeType": headers["Content-Type"] ?? "", "text": text]
            data["encoding"] = sent.encoding
            request["postData"] = data
        }
        let came = reply.written
        var content: [String: Any] = ["size": came.size, "mimeType": replyHeaders["Content-Type"] ?? "x-unknown"]
        content["text"] = came.text
        content["encoding"] = came.encoding
        var entry: [String: Any] = [
            "request": request,
            "response": ["status": status, "headers": Self.pairs(replyHeaders), "content": content],
        ]
        entry["startedDateTime"] = date
        var traffic = self
        traffic.entries.append(entry)
        return traffic
    }

    private static func pairs(_ headers: [String: String]) -> [[String: String]] {
        headers.sorted { $0.key < $1.key }.map { ["name": $0.key, "value": $0.value] }
    }

    /// The result of `latchkey doctor --har`, or of another verb.
    func diagnosed(_ words: String..., by verb: [String] = ["doctor", "--har"]) async throws -> RecordedRun {
        let folder = try TemporaryFolder()
        let log: [String: Any] = ["log": ["version": "1.2", "entries": entries]]
        try JSONSerialization.data(withJSONObject: log).write(to: folder.file("session.har"))
        return await RecordedRun(verb + [folder.path("session.har"), "--json"] + words, tool: .standard)
    }
}

extension RecordedTraffic {
    /// A certificate, an SPC that was made for it, and a CKC that answers it.
    struct Parts: Sendable { let certificate, spc, ckc: Data }

    private static let making = Task {
        let files = try LicenseFiles()
        await files.credentials()
        _ = await files.spc()
        _ = await files.ckc()
        return Parts(
            certificate: try #require(files.folder.contents("c/certificate.der")),
            spc: try #require(files.folder.contents("a.spc")), ckc: try #require(files.folder.contents("a.ckc")))
    }

    static var parts: Parts { get async throws { try await making.value } }

    func certificate(_ url: String = "https://fp.example.com/fairplay.cer") async throws -> Self {
        adding(
            "GET", url, status: 200, ["Content-Type": "application/x-x509-ca-cert"],
            .base64(try await Self.parts.certificate))
    }

    func playlist(_ key: String = "skd://movie-1", _ url: String = "https://cdn.example.com/v/v.m3u8") -> Self {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:5
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(key)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
            #EXTINF:6,
            s1.ts
            #EXT-X-ENDLIST

            """
        return adding("GET", url, status: 200, ["Content-Type": "application/vnd.apple.mpegurl"], .text(text))
    }

    /// A license request with the SPC's bytes and its answer.
    func license(_ url: String, _ headers: [String: String] = [:], status: Int = 200, _ reply: Body? = nil) async throws
        -> Self
    {
        let parts = try await Self.parts
        return adding(
            "POST", url, ["Content-Type": "application/octet-stream"].merging(headers) { $1 }, .base64(parts.spc),
            status: status, [:], reply ?? .base64(parts.ckc))
    }
}

extension RecordedRun {
    var verdict: String? { json["verdict"] as? String }
    var cause: String? { (json["cause"] as? [String: Any])?["code"] as? String }
    var causeReason: String { (json["cause"] as? [String: Any])?["reason"] as? String ?? "" }
}
