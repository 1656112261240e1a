public import Foundation

/// A reply, or the wish that the connection break instead.
public struct HTTPResponse: Sendable, Hashable {
    /// What follows the header fields.
    public enum Body: Sendable, Hashable {
        /// Bytes in memory.
        case bytes(Data)
        /// A part of a file, sent without passing through memory.
        case file(path: String, offset: UInt64, count: UInt64)
        /// No reply at all: the connection is reset. For tests of how a client takes it.
        case reset
    }

    /// The status code, 200 to 599.
    public var status: Int
    /// The header fields. `Content-Length`, `Date` and `Connection` are added by the server.
    public var headers: HTTPHeaders
    /// The body; not sent to a `HEAD` request, whose reply still states its length.
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
        self.init(status: status, headers: ["Content-Type": contentType], body: .bytes(bytes))
    }

    /// A reply of plain text.
    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", bytes: Data(text.utf8))
    }

    /// No reply: the connection is reset.
    public static let reset = HTTPResponse(status: 500, body: .reset)

    /// The bytes of a body in memory; nil for a file and for a reset.
    public var bytes: Data? {
        guard case .bytes(let data) = body else { return nil }
        return data
    }
}
