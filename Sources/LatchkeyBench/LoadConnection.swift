import Foundation
import LatchkeyCore

/// A kept-alive connection to a server on this machine that sends one request after the other.
///
/// Belongs to one thread.
final class LoadConnection {
    let socket: Int32
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// - Throws: `loadFailed` if nobody listens.
    init(port: UInt16) throws(Diagnosis) {
        #if canImport(Darwin)
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        guard isConnected else { throw .loadFailed("it cannot connect") }
    }

    deinit { close(socket) }

    /// Sends a request; it fits into the socket's buffer.
    func send(_ request: [UInt8]) throws(Diagnosis) {
        received.removeAll(keepingCapacity: true)
        guard Foundation.send(socket, request, request.count, 0) == request.count else {
            throw .loadFailed("a send failed")
        }
    }

    /// What the latest reply says in a field of its head; `nil` without one.
    /// - Parameter name: in small letters.
    func field(_ name: String) -> String? {
        let head = String(decoding: received.prefix(ReplyHead(received)?.end ?? 0), as: UTF8.self)
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
        return line.map { String($0.dropFirst(name.count + 2)) }
    }

    /// Takes what has arrived.
    /// - Parameter comesAgain: whether the caller sends again what a busy server refuses. Defaults to no.
    /// - Returns: the reply's body once it is whole, nothing for a refusal of a busy server; nil before.
    /// - Throws: `loadFailed` for anything but a 200.
    func receive(comesAgain: Bool = false) throws(Diagnosis) -> ArraySlice<UInt8>? {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw .loadFailed("the server closed a connection") }
        received += buffer.prefix(count)
        guard let head = ReplyHead(received) else { return nil }
        let isBusy = comesAgain && head.status == 503
        guard head.status == 200 || isBusy else { throw .loadFailed("the server answered with status \(head.status)") }
        guard received.count >= head.end + head.bodyLength else { return nil }
        return isBusy ? [] : received[head.end..<head.end + head.bodyLength]
    }
}

/// The little of an HTTP reply's head that a load generator needs.
struct ReplyHead: Equatable {
    let status: Int
    /// Where the body begins.
    let end: Int
    let bodyLength: Int

    /// - Parameter bytes: what has arrived; nil until the head is whole, and for one without `Content-Length`.
    init?(_ bytes: [UInt8]) {
        // By hand and on bytes, because whatever the generator takes is missing in the server.
        guard let blank = Self.end(of: "\r\n\r\n", in: bytes[...]),
            let length = Self.end(of: "\r\nContent-Length: ", in: bytes[..<blank])
        else { return nil }
        end = blank
        bodyLength = Self.number(bytes[length...])
        // `HTTP/1.1 200`: the number begins at the tenth byte.
        status = Self.number(bytes.dropFirst(9))
    }

    /// Where the text ends that occurs first.
    private static func end(of text: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        let count = text.utf8CodeUnitCount
        return bytes.withUnsafeBytes { part in
            guard let start = part.baseAddress, part.count >= count else { return nil }
            let place = (0...part.count - count).first { memcmp(start + $0, text.utf8Start, count) == 0 }
            return place.map { bytes.startIndex + $0 + count }
        }
    }

    /// The decimal number at the beginning; nine digits at most.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.prefix(9).prefix { 0x30...0x39 ~= $0 }.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
