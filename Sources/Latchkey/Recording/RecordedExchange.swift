package import Foundation
package import LatchkeyCore

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// A request and what came of it: as a loader or a transport noted it, as a recorder wrote it, or as a file is to show it. May hold secrets.
package struct RecordedExchange: Sendable {
    /// `nil` where a recording has the reply alone.
    package var request: RecordedRequest?
    /// `nil` if none came.
    package var reply: HTTPReply?
    /// Why the reply's body is not the one that came; `nil` if it is.
    package var replyGap: BodyGap?
    /// The code of what went wrong; `nil` if nothing did.
    package var code: String?
    /// When the request was sent; `nil` if the recording does not say.
    package var date: Date?
    /// How long it took. From a file it may be any number.
    package var milliseconds = 0.0
    /// The stage that it served, and at which attempt; `nil` where that is not known.
    package var stage: String?
    package var attempt: Int?
    /// The number of the key request, 0 for none; `nil` where no loader noted it.
    package var number: Int?
    package var requestID: String?
    /// The lengths of the bodies that went over the wire; `nil` if unknown.
    package var sentBytes, receivedBytes: Int?

    package init(_ request: RecordedRequest?, _ reply: HTTPReply?, at date: Date? = nil) {
        (self.request, self.reply, self.date) = (request, reply, date)
    }

    /// - Parameter code: why no reply came.
    package init(_ request: URLRequest, _ reply: HTTPReply?, code: String?, at date: Date, took length: Duration) {
        self.init(RecordedRequest(request), reply, at: date)
        (self.code, milliseconds) = (code, Self.milliseconds(length))
        (sentBytes, receivedBytes) = (request.httpBody?.count, reply?.body.count)
    }

    /// A time as files state it.
    package static func milliseconds(_ length: Duration) -> Double { (length.inMilliseconds * 1_000).rounded() / 1_000 }
}

/// A request, as far as it is known.
package struct RecordedRequest: Sendable {
    /// The HTTP method, such as `POST`.
    package var method: String
    /// The URL as text; only a path if the recording lacks the host.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// `nil` where the message has none, or the recording lacks it.
    package var body: Data?
    /// Why the body is not the one that was sent; `nil` if it is.
    package var gap: BodyGap?

    package init(
        method: String, url: String, headers: [(name: String, value: String)] = [], body: Data? = nil,
        gap: BodyGap? = nil
    ) {
        (self.method, self.url, self.headers) = (method, url, headers)
        (self.body, self.gap) = (body, gap)
    }

    /// The request that a client sends, its header fields in the order of their names.
    package init(_ request: URLRequest) {
        self.init(
            method: request.httpMethod ?? "GET", url: request.url?.absoluteString ?? "",
            headers: (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            body: request.httpBody)
    }

    /// The first value of a header field. Names are compared without regard to letter case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why a recorded body is not the one that was sent.
package enum BodyGap: Sendable, Hashable {
    /// The recording was saved without it.
    case notSaved
    /// The recording holds less of it than the length that it states.
    case cutShort
    /// The recorder wrote bytes as text and lost some.
    case lossy
    /// It should be base64, and is not.
    case undecodable
    /// Who made the recording safe to send took it, or values of it, out.
    case removed

    /// To end the sentence "The body …".
    package var words: String {
        switch self {
        case .notSaved: "is not in the capture"
        case .cutShort: "is not in the capture as a whole"
        case .lossy: "is in the capture as text that lost its bytes"
        case .undecodable: "is in the capture as invalid base64"
        case .removed: "was removed from the capture, or values of it were"
        }
    }
}
