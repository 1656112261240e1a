/// Where a request ends, according to its head.
///
/// A head that two servers could read differently is refused, because the difference could hide a request.
///
/// Source: RFC 9112 §3.2, §5 and §6; RFC 9110 §8.6 and §10.1.1.
extension HTTPHeaders {
    /// The stated length of the body in bytes; 0 if the head states none, as for a chunked body.
    var statedLength: UInt64 { self[.contentLength].flatMap { UInt64($0) } ?? 0 }

    /// Whether the client waits for permission before it sends the body.
    var isWaitingToSend: Bool { self[.expect] != nil }

    /// The reply that refuses the head; `nil` for a head with only one meaning.
    var framingRefusal: HTTPResponse? {
        let (lengths, codings) = (values(of: .contentLength), values(of: .transferEncoding))
        if values(of: .host).count > 1 { return .refused(400, "There are several Host fields.") }
        if !lengths.isEmpty, !codings.isEmpty {
            return .refused(400, "There are both Content-Length and Transfer-Encoding.")
        }
        if lengths.count > 1 || codings.count > 1 { return .refused(400, "The length of the body is stated twice.") }
        if let coding = codings.first, !coding.equalsIgnoringCase("chunked") {
            return .refused(501, "The only transfer coding that is understood is chunked.")
        }
        if let length = lengths.first, !Self.isNumber(length) {
            return .refused(400, "The Content-Length is not a number.")
        }
        if let length = lengths.first, UInt64(length) == nil { return .bodyTooLarge }
        if let wish = self[.expect], !wish.equalsIgnoringCase("100-continue") {
            return .refused(417, "The only expectation that is understood is 100-continue.")
        }
        return fields.allSatisfy(\.isWellFormed)
            ? nil : .refused(400, "A header field has a character that none may have.")
    }

    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }
}

extension HTTPHeaders.Field {
    /// Whether the name is a token and the value has no control characters other than tabs.
    fileprivate var isWellFormed: Bool {
        !name.rawValue.isEmpty && name.rawValue.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }
}

extension HTTPResponse {
    /// A refused request; the connection ends with the reply.
    static func refused(_ status: Int, _ text: String) -> HTTPResponse {
        var response = HTTPResponse.text(text, status: status)
        response.headers[.connection] = "close"
        return response
    }

    static let headTooLarge = refused(431, "The request's header fields are too large.")
    static let bodyTooLarge = refused(413, "The request's body is too large.")
    /// The reply to a request that takes longer than the deadline.
    static let overdue = text("The request took longer than the server allows.", status: 503)
    /// The reply to a body that does not arrive within the deadline.
    static let bodyOverdue = refused(408, "The request's body took longer than the server allows.")
    static let unanswered = text("The request was not answered.", status: 500)
    /// The reply to a request that arrives or is open while the server stops.
    static let stopping = refused(503, "The server is stopping.")

    /// The text after the status of a reply that libmicrohttpd does not write.
    static func reason(of status: Int) -> String {
        switch status {
        case 408: "Request Timeout"
        case 413: "Content Too Large"
        case 431: "Request Header Fields Too Large"
        default: "Refused"
        }
    }
}
