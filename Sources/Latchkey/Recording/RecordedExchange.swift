package import Foundation
package import LatchkeyCore

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// A request and its result: as a loader or a transport noted it, as a recorder wrote it, or as a file is to show it. May hold secrets.
package struct RecordedExchange: Sendable {
    /// `nil` if a recording has only the reply.
    package var request: RecordedRequest?
    /// `nil` if none came.
    package var reply: HTTPReply?
    /// Why the recorded body differs from the reply's; `nil` if it does not.
    package var replyGap: BodyGap?
    /// The code of the error, or `nil`.
    package var code: String?
    /// When the request was sent; `nil` if the recording does not say.
    package var date: Date?
    /// How long it took. From a file it may be any number.
    package var milliseconds = 0.0
    /// The stage of the key, and the attempt; `nil` if unknown.
    package var stage: String?
    package var attempt: Int?
    /// The number of the key request, 0 for none; `nil` if no loader noted it.
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

    /// A time as stated in files.
    package static func milliseconds(_ length: Duration) -> Double { (length.inMilliseconds * 1_000).rounded() / 1_000 }
}

/// A request, as far as it is known.
package struct RecordedRequest: Sendable {
    /// The HTTP method, such as `POST`.
    package var method: String
    /// The URL as text; only a path if the recording lacks the host.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// `nil` if the message has none, or the recording lacks it.
    package var body: Data?
    /// Why the body differs from the sent body; `nil` if it does not.
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

/// Why a recorded body differs from the sent body.
package enum BodyGap: Sendable, Hashable {
    /// The recording was saved without it.
    case notSaved
    /// The recording holds less of it than the stated length.
    case cutShort
    /// The recorder wrote bytes as text and lost some.
    case lossy
    /// It should be base64, but is not.
    case undecodable
    /// It, or values in it, were removed to make the recording safe to send.
    case removed

    /// Ends the sentence "The body …".
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
