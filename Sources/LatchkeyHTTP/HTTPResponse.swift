public import Foundation

/// A reply, or a reset of the connection instead.
public struct HTTPResponse: Sendable, Hashable {
    /// The content after the header fields.
    public enum Body: Sendable, Hashable {
        /// Bytes in memory.
        case bytes(Data)
        /// A part of a file, sent without being read into memory.
        case file(path: String, offset: UInt64, count: UInt64)
        /// Bytes that are made while they are sent, in chunks. Sent once.
        case stream(HTTPBodyStream)
        /// No reply: the connection is reset. For tests of clients.
        case reset
    }

    /// The status code, 200 to 599.
    public var status: Int
    /// The header fields. The server adds `Content-Length`, `Date` and `Connection`.
    public var headers: HTTPHeaders
    /// The body. The reply to `HEAD` states its length and leaves it out.
    public var body: Body

    /// - Parameters:
    ///   - status: the status code.
    ///   - headers: the header fields.
    ///   - body: the body.
    public init(status: Int, headers: HTTPHeaders = [:], body: Body = .bytes(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// - Parameters:
    ///   - status: the status code.
    ///   - contentType: the media type of the body.
    ///   - bytes: the body.
    public init(status: Int = 200, contentType: String, bytes: Data) {
        self.init(status: status, headers: [.contentType: contentType], body: .bytes(bytes))
    }

    /// A reply of plain text.
    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", bytes: Data(text.utf8))
    }

    /// No reply: the connection is reset.
    public static let reset = HTTPResponse(status: 500, body: .reset)

    /// The bytes of a body in memory; `nil` for a file, a stream and a reset.
    public var bytes: Data? {
        guard case .bytes(let data) = body else { return nil }
        return data
    }
}
