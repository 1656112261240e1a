import Foundation
import LatchkeyCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server on a loopback port that says to each request, byte for byte, what a test wants; real sockets, no HTTP of its own.
final class LoopbackServer: Sendable {
    /// What is done with a connection after its request was read.
    enum Action: Sendable {
        /// These bytes are sent, and the connection closed.
        case send(String)
        /// These bytes are sent, and the connection stays open for another request.
        case keep(String)
        /// These bytes are sent and 4 MiB more, and the connection stays open until the client goes.
        case flood(String)
        /// Nothing is sent until the client goes.
        case hang
    }

    private struct State {
        var requests: [String] = []
        var connections = 0
    }

    let port: UInt16
    /// Opens when a client has gone while something was still being sent to it, or nothing was.
    let clientGone: @Sendable () async -> Void
    private let listener: Int32
    private let state: Locked<State>

    init(_ respond: @escaping @Sendable (_ request: String, _ number: Int) -> Action) throws {
        let (stream, gone) = AsyncStream<Void>.makeStream()
        clientGone = { for await _ in stream { return } }
        let state = Locked(State())
        let (listener, port) = try Self.listen()
        (self.listener, self.port, self.state) = (listener, port, state)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return gone.finish() }
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
        case .hang:
            _ = read(from: connection)
            gone.yield()
        }
        return false
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The requests as they came, in order.
    var requests: [String] { state.withLock { $0.requests } }

    /// The number of connections that were made to it.
    var connections: Int { state.withLock { $0.connections } }

    func url(_ path: String = "/") -> URL { URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/") }

    /// A reply of a status, header fields and a body.
    static func reply(_ status: String, _ headers: [String] = [], body: String = "") -> Action {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
        return .send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// A port on which nobody listens.
    static func deadPort() throws -> UInt16 {
        let (listener, port) = try listen()
        close(listener)
        return port
    }

    private static func listen() throws -> (listener: Int32, port: UInt16) {
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && Self.listen(listener)
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    private static func listen(_ listener: Int32) -> Bool {
        #if canImport(Glibc)
            Glibc.listen(listener, 64) == 0
        #else
            Darwin.listen(listener, 64) == 0
        #endif
    }

    /// Reads a head and as much body as it states; what came so far where the client goes.
    private static func read(from connection: Int32) -> String {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let length = text.lowercased().range(of: "content-length: ").flatMap {
                    Int(text.lowercased()[$0.upperBound...].prefix { $0.isNumber })
                }
                if text[end.upperBound...].utf8.count >= length ?? 0 { return text }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return text }
            bytes.append(contentsOf: buffer.prefix(count))
            if bytes.first == 0x16 { return "TLS" }
        }
    }

    private static func write(_ data: Data, to connection: Int32) -> Bool {
        #if canImport(Glibc)
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
