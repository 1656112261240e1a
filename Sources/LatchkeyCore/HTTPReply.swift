public import Foundation

/// A server's answer: status, header fields and a body of limited size.
public struct HTTPReply: Sendable {
    /// The URL that answered, after redirects.
    public var url: URL?
    /// The status code, such as 200.
    public var status: Int
    /// The header fields. A field that came twice may be two fields here, or one field with values separated by a comma.
    public var headers: [(name: String, value: String)]
    /// The body, never longer than the requested limit.
    public var body: Data

    /// Makes a reply.
    public init(url: URL? = nil, status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.url = url
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first value of a header field. Names are compared without regard to letter case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
