public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What a server answered: status, header fields and a body of bounded size.
public struct HTTPReply: Sendable {
    /// The URL that answered, after redirects.
    public var url: URL?
    /// The status code, such as 200.
    public var status: Int
    /// The header fields; a field that came twice may be two fields here, or one whose values a comma separates.
    public var headers: [(name: String, value: String)]
    /// The body; never longer than the limit that was asked for.
    public var body: Data

    /// Makes a reply.
    public init(url: URL? = nil, status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.url = url
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first value of a header field, found without regard to letter case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A request and the reply to it, as an integration's response hooks see them.
public struct HTTPExchange: Sendable {
    /// What was sent.
    public var request: URLRequest
    /// What came back.
    public var reply: HTTPReply

    /// Pairs a request with its reply.
    public init(request: URLRequest, reply: HTTPReply) {
        self.request = request
        self.reply = reply
    }
}
