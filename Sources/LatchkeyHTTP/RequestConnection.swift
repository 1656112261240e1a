import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// A client's connection to a server, with one request at a time. Never blocks. Belongs to one thread.
///
/// The reason of an error, after which the connection is of no use, is a clause for a report's line.
final class RequestConnection {
    let descriptor: Int32
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var received: [UInt8] = []
    private var scan = HeadScan()
    private var head: (reply: ReplyHead, count: Int)?
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    fileprivate static let (mostHeadBytes, mostBytes) = (65_536, 1 << 20)

    /// Begins to connect to one of the addresses.
    init(_ addresses: [SocketAddress]) throws(TransportError) {
        guard let address = addresses.randomElement() else {
            throw TransportError(.hostNotFound, "the server's name was not found")
        }
        guard OpenFileBudget.process.take(for: .own) else {
            throw TransportError(.transportFailed, "no file descriptor is left")
        }
        descriptor = address.withPointer { latchkey_connect($0, address.length) }
        guard descriptor >= 0 else { throw TransportError(.cannotConnect, Self.text(errno)) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        OpenFileBudget.process.give()
    }

    /// The events to wait for.
    var events: Int16 { Int16(sent < outgoing.count ? POLLOUT : POLLIN) }

    /// Whether the latest reply lets the connection carry another request.
    var isKept: Bool { head?.reply.keepsConnection ?? false }

    /// Sends a request as far as the connection takes it.
    func begin(_ request: [UInt8]) throws(TransportError) {
        (outgoing, sent) = (request, 0)
        (scan, head) = (HeadScan(), nil)
        received.removeAll(keepingCapacity: true)
        try push()
    }

    /// Continues sending or receiving.
    /// - Returns: the reply once it is whole.
    func advance() throws(TransportError) -> HTTPResponse? {
        guard sent == outgoing.count else {
            try push()
            return nil
        }
        let count = latchkey_receive(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0 else {
            let cause = count == 0 ? "the connection ended" : Self.text(errno)
            throw TransportError(.connectionLost, received.isEmpty ? cause : "\(cause) within a reply")
        }
        received += buffer.prefix(count)
        guard received.count <= Self.mostBytes else {
            throw TransportError(.bodyTooLarge, "the reply is longer than 1 MiB")
        }
        if head == nil { head = try ReplyHead.found(in: received, by: &scan, most: Self.mostHeadBytes) }
        guard let (reply, start) = head, received.count >= start + reply.bodyLength else { return nil }
        let body = Data(received[start..<start + reply.bodyLength])
        return HTTPResponse(status: reply.status, headers: reply.headers, body: .bytes(body))
    }

    private func push() throws(TransportError) {
        let count = outgoing.withUnsafeBytes { bytes in
            bytes.baseAddress.map { latchkey_send(descriptor, $0 + sent, bytes.count - sent) } ?? 0
        }
        if count >= 0 { return sent += count }
        // A connection that is being made takes nothing yet.
        guard errno == EAGAIN || errno == EINTR || errno == ENOTCONN else {
            throw TransportError(.connectionLost, Self.text(errno))
        }
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
}

/// The head of a reply of HTTP 1.1 that states its length.
struct ReplyHead: Hashable {
    let status: Int
    let headers: HTTPHeaders
    let bodyLength: Int
    /// Whether the connection may carry another request.
    var keepsConnection: Bool { headers[.connection]?.equalsIgnoringCase("close") != true }

    /// The head at the beginning of the received bytes, and its length; `nil` if its end has not arrived.
    /// - Throws: `replyMalformed` if the bytes are not an HTTP reply with a length; `bodyTooLarge` above 1 MiB.
    static func found(
        in bytes: [UInt8], by scan: inout HeadScan, most: Int
    ) throws(TransportError) -> (ReplyHead, count: Int)? {
        do {
            return try bytes.withUnsafeBytes { bytes in
                try scan.lines(in: bytes, most: most).map { (try ReplyHead($0.lines), $0.count) }
            }
        } catch {
            throw error as? TransportError ?? TransportError(.replyMalformed, "the reply is not HTTP 1.1")
        }
    }

    private init(_ lines: [UnsafeRawBufferPointer.SubSequence]) throws {
        let words = lines[0].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), 100...599 ~= status else {
            throw TransportError(.replyMalformed, "the reply is not HTTP 1.1")
        }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            let field = try RequestHead.field(line)
            headers.append(field.name, field.value)
        }
        let isEmpty = status == 204 || status == 304
        let length = headers[.contentLength].flatMap { Int($0) } ?? (isEmpty ? 0 : nil)
        guard let length, length >= 0 else { throw TransportError(.replyMalformed, "the reply has no length") }
        guard length <= RequestConnection.mostBytes else {
            throw TransportError(.bodyTooLarge, "the reply is longer than 1 MiB")
        }
        (self.status, self.headers, bodyLength) = (status, headers, length)
    }
}
