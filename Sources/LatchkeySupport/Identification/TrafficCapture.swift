package import Foundation
package import Latchkey
package import LatchkeyCore
package import LatchkeyVendors

/// The exchanges of a capture, in order.
///
/// Reads a HAR file, raw HTTP messages, the output of `curl -v`, and a `curl` command as browsers copy it; each also after a byte order
/// mark, or in UTF-16.
package struct TrafficCapture: Sendable {
    /// At most 20,000.
    package let exchanges: [RecordedExchange]
    /// The contents of each exchange's bodies, recognized once for all callers.
    package let recognized: [(sent: Recognition, came: Recognition)]
    /// The hosts to which the recorder saw only connections, because it did not open their TLS.
    package private(set) var sealedHosts: [String] = []
    /// Header fields that the recorder left out of every request, in lowercase.
    package private(set) var leftOut: Set<String> = []

    static let limit = 20_000

    package init(_ exchanges: [RecordedExchange]) {
        self.exchanges = exchanges
        recognized = exchanges.map { (Self.recognized($0.request?.body), Self.recognized($0.reply?.body)) }
    }

    /// Nothing that is exchanged for a key is as large as a segment.
    static let longestBody = 1 << 18

    private static func recognized(_ body: Data?) -> Recognition {
        body.map { $0.count > longestBody ? .unknown : Recognition($0) } ?? .empty
    }

    /// - Parameter data: the file or the text.
    /// - Throws: a `Diagnosis` if it has none of the forms, or is truncated.
    package init(_ data: Data) throws(Diagnosis) {
        let data = Self.asUTF8(data)
        if data.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") {
            let archive = try HTTPArchive.read(data)
            self.init(Array(archive.exchanges.prefix(Self.limit)))
            (sealedHosts, leftOut) = (archive.sealedHosts, Self.leftOut(by: archive.log.creator?.name, of: exchanges))
            return
        }
        let start = String(decoding: data.prefix(4_096), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if CurlCommand.isOne(start) {
            self.init([RecordedExchange(try CurlCommand.request(String(decoding: data, as: UTF8.self)), nil)])
        } else if let found = RawHTTP.exchanges(data) {
            self.init(found)
        } else {
            throw Diagnosis(
                code: Diagnosis.captureUnknown,
                reason: "This is \(Recognition(data).noun), not a HAR file, an HTTP message or a curl command.",
                remedy: "Give one of those, a playlist, or a key URI that begins with skd:.")
        }
    }

    private static func asUTF8(_ data: Data) -> Data {
        if data.starts(with: [0xef, 0xbb, 0xbf]) { return Data(data.dropFirst(3)) }
        guard data.starts(with: [0xff, 0xfe]) || data.starts(with: [0xfe, 0xff]),
            let text = String(data: data, encoding: .utf16)
        else { return data }
        return Data(text.utf8)
    }

    /// Chrome leaves these out unless sensitive data is exported.
    private static func leftOut(by recorder: String?, of exchanges: [RecordedExchange]) -> Set<String> {
        guard recorder == "WebInspector" else { return [] }
        return Set(
            ["authorization", "cookie"].filter { name in !exchanges.contains { $0.request?.header(name) != nil } })
    }
}

extension TrafficCapture {
    /// The bodies, each in a sentence: all of them for a single exchange, otherwise those exchanged for a key, at most 16.
    package var bodies: [String] {
        var (found, number): ([String], Int) = ([], 0)
        for (exchange, bodies) in zip(exchanges, recognized) where found.count < 16 {
            if exchange.request != nil { number += 1 }
            let isSent = exchange.request.map { $0.gap == nil && $0.method != "GET" && $0.body != nil } ?? false
            let sent = isSent ? bodies.sent : nil
            let came = exchange.reply != nil && exchange.replyGap == nil ? bodies.came : nil
            for (place, what) in [("request \(number)", sent), ("the reply to request \(number)", came)] {
                guard let what, messageCount <= 2 || what.isTelling else { continue }
                found.append("The body of \(place) is \(what.noun).")
            }
        }
        return Array(found.prefix(16))
    }

    /// The number of requests and replies.
    private var messageCount: Int { exchanges.count { $0.request != nil } + exchanges.count { $0.reply != nil } }
}

extension Diagnosis {
    /// The same for callers that accept only a HAR file.
    /// - Parameter option: the option for it.
    package func remedied(for option: String) -> Self {
        Self(
            code: code, reason: code == Self.captureUnknown ? "This is not a HAR file." : reason,
            remedy:
                "Give \(option) a HAR 1.2 file, with bodies, as a browser's developer tools, Charles or mitmproxy write it."
        )
    }

    /// The code for input in none of the forms.
    fileprivate static let captureUnknown = "captureUnknown"
}
