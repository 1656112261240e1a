package import Foundation
import LatchkeyCore

/// A server on a loopback port that answers each request with a test's exact bytes; real sockets, no HTTP implementation.
package final class LoopbackServer: Sendable {
    /// An action on a connection after its request was read.
    package enum Action: Sendable {
        /// Sends these bytes, and closes the connection.
        case send(String)
        /// Sends these bytes, and keeps the connection open for another request.
        case keep(String)
        /// Sends these bytes and 4 MiB more, and keeps the connection open until the client disconnects.
        case flood(String)
        /// Sends these bytes, and nothing more until the client disconnects.
        case begin(String)
        /// Sends these bytes, and then the piece repeatedly until the client disconnects.
        case endless(String, piece: String)
        /// Sends these bytes, and closes the connection.
        case bytes(Data)
        /// Nothing is sent until the client goes.
        case hang
    }

    private struct State {
        package var requests: [String] = []
        var connections = 0
    }

    package let port: UInt16
    /// Opens when a client has gone while something was still being sent to it, or nothing was.
    package let clientGone: @Sendable () async -> Void
    private let listener: Int32
    private let state: Locked<State>

    package init(_ respond: @escaping @Sendable (_ request: String, _ number: Int) -> Action) throws {
        let (stream, gone) = AsyncStream<Void>.makeStream()
        clientGone = { for await _ in stream { return } }
        let state = Locked(State())
        let (listener, port) = try Self.openListener()
        (self.listener, self.port, self.state) = (listener, port, state)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    // Closed here and not in `deinit`: another server's listener would get the number while this thread still has it.
                    close(listener)
                    return gone.finish()
                }
                state.withLock { $0.connections += 1 }
                Thread.detachNewThread {
                    while Self.serve(connection, state, gone, respond) {}
                    close(connection)
                }
            }
        }
    }

    /// Answers one request.
    /// - Returns: whether the connection stays open.
    private static func serve(
        _ connection: Int32, _ state: Locked<State>, _ gone: AsyncStream<Void>.Continuation,
        _ respond: (_ request: String, _ number: Int) -> Action
    ) -> Bool {
        let request = read(from: connection)
        guard !request.isEmpty else { return false }
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count
        }
        switch respond(request, number) {
        case .send(let text): _ = write(Data(text.utf8), to: connection)
        case .keep(let text): return write(Data(text.utf8), to: connection)
        case .flood(let head):
            if write(Data(head.utf8) + Data(repeating: 0x61, count: 1 << 22), to: connection) {
                _ = read(from: connection)
            }
            gone.yield()
        case .begin(let text):
            _ = write(Data(text.utf8), to: connection)
            _ = read(from: connection)
            gone.yield()
        case .endless(let head, let piece):
            let pieces = Data(String(repeating: piece, count: max(1, 16_384 / piece.utf8.count)).utf8)
            var isThere = write(Data(head.utf8), to: connection)
            while isThere { isThere = write(pieces, to: connection) }
            gone.yield()
        case .bytes(let bytes): _ = write(bytes, to: connection)
        case .hang:
            _ = read(from: connection)
            gone.yield()
        }
        return false
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The requests as they came, in order.
    package var requests: [String] { state.withLock { $0.requests } }

    /// The number of connections that were made to it.
    package var connections: Int { state.withLock { $0.connections } }

    package func url(_ path: String = "/") -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
    }

    /// A reply of a status, header fields and a body.
    package static func reply(_ status: String, _ headers: [String] = [], body: String = "") -> Action {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
        return .send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// A port without a listener. Its socket stays open, so that no other server gets the port.
    package static func deadPort() throws -> UInt16 { try openSocket().port }

    private static func openListener() throws -> (listener: Int32, port: UInt16) {
        let (listener, port) = try openSocket()
        guard listen(listener, 64) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, port)
    }

    /// A socket with a port that refuses connections until it listens.
    private static func openSocket() throws -> (socket: Int32, port: UInt16) {
        #if os(Linux)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Reads a head and as much body as it states; returns the bytes so far if the client disconnects.
    private static func read(from connection: Int32) -> String {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var wanted: Int?
        while wanted.map({ bytes.count < $0 }) ?? true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer.prefix(count))
            if bytes.first == 0x16 { return "TLS" }
            wanted = wanted ?? length(of: bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How many bytes a request has in all; `nil` before its head is whole.
    private static func length(of bytes: Data) -> Int? {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8))?.upperBound else { return nil }
        let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
        let stated = head.range(of: "content-length: ").flatMap { Int(head[$0.upperBound...].prefix { $0.isNumber }) }
        return end + (stated ?? 0)
    }

    private static func write(_ data: Data, to connection: Int32) -> Bool {
        #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        return data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(connection, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}
