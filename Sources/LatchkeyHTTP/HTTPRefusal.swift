import Foundation

/// Why the server refuses a request before a handler sees it. The connection ends with the reply.
struct HTTPRefusal: Error, Hashable {
    /// The status of the reply.
    let status: Int
    /// A stable name of the kind of refusal.
    let code: String
    /// A description of the fault.
    let reason: String
    /// The client's remedy.
    let remedy: String

    init(_ status: Int, _ code: String, _ reason: String, _ remedy: String) {
        (self.status, self.code, self.reason, self.remedy) = (status, code, reason, remedy)
    }

    /// The one reply: `{"error":{"code","message","reason","remedy"}}`.
    var response: HTTPResponse {
        // No text here needs an escape.
        let text = #"{"error":{"code":"\#(code)","message":"\#(reason)","reason":"\#(reason)","remedy":"\#(remedy)"}}"#
        return HTTPResponse(
            status: status,
            headers: [.contentType: "application/json", .cacheControl: "no-store", .connection: "close"],
            body: .bytes(Data(text.utf8)))
    }

    /// A violation of a rule of HTTP/1.1 that decides where a request ends.
    static func framing(_ reason: String) -> Self {
        Self(400, "httpRequest", reason, "Send a request that follows RFC 9112.")
    }

    static let headTooLarge = Self(
        431, "httpHead", "The request's header fields are too large.", "Send fewer or shorter header fields.")
    static let bodyTooLarge = Self(413, "httpBody", "The request's body is too large.", "Send a smaller body.")
    static let coding = Self(
        501, "httpCoding", "The only supported transfer coding is chunked.",
        "Send Content-Length, or Transfer-Encoding: chunked.")
    static let path = Self(
        400, "httpPath", "The path has an empty segment or an encoded slash.",
        "Put one slash before each segment of the path.")
    static let expectation = Self(
        417, "httpExpectation", "The only supported expectation is 100-continue.",
        "Send no other Expect field.")
    static let version = Self(
        505, "httpVersion", "The only supported versions are HTTP/1.1 and HTTP/1.0.", "Send HTTP/1.1.")
    /// For a request that takes longer than the deadline.
    static let overdue = Self(
        503, "httpOverdue", "The request took longer than the server allows.", "Send it again later.")
    /// For a body that does not arrive within the deadline.
    static let bodyOverdue = Self(
        408, "httpBodyOverdue", "The request's body took longer than the server allows.", "Send it again.")
    /// For a request that arrives or is open while the server stops.
    static let stopping = Self(503, "httpStopping", "The server is stopping.", "Send it to another node.")
    static let unreadableFile = Self(500, "httpFile", "The file cannot be read.", "Ask the operator of the server.")
}
