package import Foundation
package import LatchkeyCore
import LatchkeyVendors

/// The requests and replies of a capture, in order.
///
/// Reads a HAR file, raw HTTP messages, what `curl -v` prints, and a `curl` command as browsers copy it.
package struct TrafficCapture: Sendable {
    /// A request or a reply.
    package enum Message: Sendable {
        case request(CapturedRequest)
        /// With the reason why its body is not the one that came, if it is not.
        case reply(HTTPReply, BodyGap?)
    }

    /// The messages, at most 20,000.
    package let messages: [Message]

    static let limit = 20_000

    /// - Parameter data: the file or the text.
    /// - Throws: a `Diagnosis` if it has none of the forms, or breaks off.
    package init(_ data: Data) throws(Diagnosis) {
        if data.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") {
            messages = try HTTPArchive.messages(data)
            return
        }
        let start = String(decoding: data.prefix(4_096), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if CurlCommand.isOne(start) {
            messages = [.request(try CurlCommand.request(String(decoding: data, as: UTF8.self)))]
        } else if let found = RawHTTP.messages(data) {
            messages = found
        } else {
            throw Diagnosis(
                code: Diagnosis.captureUnknown,
                reason: "This is \(Recognition(data).noun): no HAR file, no HTTP message and no curl command.",
                remedy: "Give one of those, a playlist, or a key URI that begins with skd:.")
        }
    }
}

extension TrafficCapture {
    /// What the bodies are, each in a sentence: of one request and its reply any, of more those that are exchanged for a key, at most 16.
    package var bodies: [String] {
        var (found, number): ([String], Int) = ([], 0)
        for message in messages where found.count < 16 {
            let (place, body): (String, Data?)
            switch message {
            case .request(let request):
                number += 1
                (place, body) = (
                    "request \(number)", request.gap == nil && request.method != "GET" ? request.body : nil
                )
            case .reply(let reply, let gap):
                (place, body) = ("the reply to request \(number)", gap == nil ? reply.body : nil)
            }
            guard let body, body.count <= 1 << 18 else { continue }
            let what = Recognition(body)
            if messages.count <= 2 || what.isTelling { found.append("The body of \(place) is \(what.noun).") }
        }
        return found
    }
}

extension Diagnosis {
    /// The same for who may give a HAR file and nothing else.
    /// - Parameter option: the option that takes it.
    package func remedied(for option: String) -> Self {
        Self(
            code: code, reason: code == Self.captureUnknown ? "This is no HAR file." : reason,
            remedy:
                "Give \(option) a HAR 1.2 file, as a browser's developer tools, Charles, mitmproxy or --trace FILE.har write it."
        )
    }

    /// The code for something that has none of the forms.
    fileprivate static let captureUnknown = "captureUnknown"
}
