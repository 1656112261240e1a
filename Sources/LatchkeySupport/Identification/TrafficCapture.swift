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
                code: Diagnosis.captureUnknown, reason: "This is no HAR file, no HTTP message and no curl command.",
                remedy: "Give one of those, a playlist, or a key URI that begins with skd:.")
        }
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
