import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// The bytes of one reply, made as the client takes them: the head, and the body piece by piece.
// Its connection alone uses it.
final class OutgoingReply {
    private enum Source {
        case nothing
        case bytes(Data)
        /// A file at an offset, with so many bytes left.
        case file(OpenFile, offset: UInt64, left: UInt64)
        case stream(HTTPBodyStream, isChunked: Bool)
    }

    /// The next output of the reply.
    enum Next: Equatable {
        /// More bytes are in the buffer.
        case bytes
        /// A stream has nothing yet.
        case later
        case end
        /// The body ends before its stated length, or failed.
        case broken
    }

    /// Whether the connection may carry another request after the reply.
    let keepsConnection: Bool
    private var source: Source

    private static let block = 64 * 1_024

    /// - Parameters:
    ///   - response: the reply; no reset.
    ///   - head: the request's head; `nil` for a request that was refused in its head.
    ///   - isLast: whether the connection carries no other request in any case.
    ///   - date: the current date as a header field has it.
    ///   - buffer: gets the first bytes.
    init(
        _ response: HTTPResponse, to head: RequestHead?, isLast: Bool, date: String, into buffer: inout [UInt8]
    ) {
        let (response, source, length) = Self.source(of: response)
        let hasBody = response.status != 204 && response.status != 304
        let isStream = length == nil
        let isOld = head?.isOld ?? false
        let ends = isLast || response.headers.values(of: .connection).contains { $0.equalsIgnoringCase("close") }
        keepsConnection = head.map { $0.keepsConnection && !ends && !($0.isOld && isStream) } ?? false
        self.source = hasBody && head?.method != .head ? source : .nothing
        if case .nothing = self.source, case .stream(let stream, _) = source { stream.end() }
        if case .stream(let stream, _) = self.source { self.source = .stream(stream, isChunked: !isOld) }
        buffer.reserveCapacity(buffer.count + 512 + (length.map { Int(clamping: min($0, UInt64(Self.block))) } ?? 0))
        buffer += "HTTP/1.1 \(response.status) ".utf8
        buffer += HTTPResponse.reason(of: response.status).utf8
        if response.headers["Date"] == nil {
            buffer += "\r\nDate: ".utf8
            buffer += date.utf8
        }
        buffer += "\r\n".utf8
        for field in response.headers.fields where field.mayBeSent {
            buffer += field.name.rawValue.utf8
            buffer += ": ".utf8
            buffer += field.value.utf8
            buffer += "\r\n".utf8
        }
        if !keepsConnection {
            buffer += "Connection: close\r\n".utf8
        } else if isOld {
            buffer += "Connection: keep-alive\r\n".utf8
        }
        if let length, hasBody {
            buffer += "Content-Length: \(length)\r\n\r\n".utf8
        } else {
            buffer += (hasBody && !isOld ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n").utf8
        }
        // One call sends a short reply.
        if case .bytes(let data) = self.source, data.count <= Self.block {
            buffer += data
            self.source = .nothing
        }
    }

    /// The reply to send, where its body comes from, and its length; `nil` for a stream.
    private static func source(of response: HTTPResponse) -> (HTTPResponse, Source, length: UInt64?) {
        switch response.body {
        case .bytes(let data): return (response, .bytes(data), UInt64(data.count))
        case .stream(let stream): return (response, .stream(stream, isChunked: true), nil)
        case .file(let path, let offset, let count):
            if let file = OpenFile(path, offset: offset, count: count) {
                return (response, .file(file, offset: offset, left: count), count)
            }
            return source(of: unreadable(response))
        case .reset: return source(of: unreadable(response))
        }
    }

    /// The refusal in place of a reply, readable by the same pages.
    private static func unreadable(_ response: HTTPResponse) -> HTTPResponse {
        var refusal = HTTPRefusal.unreadableFile.response
        for field in response.headers.fields where field.name.rawValue.lowercased().hasPrefix("access-control-") {
            refusal.headers[field.name] = field.value
        }
        return refusal
    }

    /// Adds the next bytes to an empty buffer.
    func fill(_ buffer: inout [UInt8], for connection: ClientConnection) -> Next {
        switch source {
        case .nothing: return .end
        case .bytes(let data):
            buffer += data.prefix(Self.block)
            let rest = data.dropFirst(Self.block)
            source = rest.isEmpty ? .nothing : .bytes(rest)
            return .bytes
        case .file(let file, let offset, let left):
            let most = Int(clamping: min(left, UInt64(Self.block)))
            guard most > 0 else {
                source = .nothing
                return .end
            }
            let count = file.read(into: &buffer, at: offset, most: most)
            guard count > 0 else { return .broken }
            source = .file(file, offset: offset + UInt64(count), left: left - UInt64(count))
            return .bytes
        case .stream(let stream, let isChunked):
            switch stream.next(most: 16 * 1_024, for: connection) {
            case .later: return .later
            case .broken: return .broken
            case .bytes(let piece):
                if isChunked { buffer += "\(String(piece.count, radix: 16))\r\n".utf8 }
                buffer += piece
                if isChunked { buffer += "\r\n".utf8 }
                return .bytes
            case .end:
                source = .nothing
                guard isChunked else { return .end }
                buffer += "0\r\n\r\n".utf8
                return .bytes
            }
        }
    }

    /// Ends a body that is a stream; written pieces are still sent.
    func endStream() { if case .stream(let stream, _) = source { stream.end() } }

    /// Gives up the rest of the reply.
    func abandon() {
        endStream()
        source = .nothing
    }
}

/// A part of a plain file that is open to be sent.
private final class OpenFile {
    private let descriptor: Int32

    /// - Returns: `nil` if the file is missing, is not a regular file or is shorter, or if the process may have no more files open.
    init?(_ path: String, offset: UInt64, count: UInt64) {
        guard OpenFileBudget.process.take(for: .client) else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        self.descriptor = descriptor
        var status = stat()
        let (end, isTooLong) = offset.addingReportingOverflow(count)
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, !isTooLong,
            end <= UInt64(max(status.st_size, 0))
        else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        OpenFileBudget.process.give()
    }

    func read(into buffer: inout [UInt8], at offset: UInt64, most: Int) -> Int {
        let start = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: most))
        let count = buffer.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress.map { $0 + start }, most, off_t(clamping: offset))
        }
        buffer.removeLast(most - max(0, count))
        return count
    }
}

extension HTTPHeaders.Field {
    /// Whether the field cannot split the reply, and is not one that the server writes itself.
    fileprivate var mayBeSent: Bool {
        let isWhole = { (text: String) in !text.hasBytes { $0 < 0x20 && $0 != UInt8(ascii: "\t") } }
        guard !name.rawValue.isEmpty, isWhole(name.rawValue), isWhole(value) else { return false }
        return name != .contentLength && name != .transferEncoding && name != .connection
    }
}

extension HTTPResponse {
    /// The text after the status.
    static func reason(of status: Int) -> String { reasons[status] ?? "Unknown" }

    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        507: "Insufficient Storage", 511: "Network Authentication Required",
    ]
}
