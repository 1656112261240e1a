import Foundation

/// A plain socket to a server on this machine. It never waits longer than its patience.
final class AttackSocket {
    private let socket: Int32

    /// - Parameters:
    ///   - port: the server's port.
    ///   - source: the local address, any of `127.0.0.0/8`.
    ///   - patience: the maximum number of seconds for sending or receiving.
    init?(port: UInt16, from source: String, patience: Int = 5) {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var time = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        // Otherwise each attack takes one of the address's ports for a minute, and there are fewer ports than attacks.
        var withoutPort: Int32 = 1
        setsockopt(
            socket, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &withoutPort, socklen_t(MemoryLayout<Int32>.size))
        let socket = socket
        guard Self.withAddress(source, 0, { bind(socket, $0, $1) }) == 0,
            Self.withAddress("127.0.0.1", port, { connect(socket, $0, $1) }) == 0
        else { return nil }
    }

    deinit { close(socket) }

    /// - Returns: `false` if the server does not accept everything.
    @discardableResult
    func send(_ bytes: Data) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Data(text.utf8)) }

    /// Sends as much as the socket takes now.
    /// - Returns: the number of bytes; `nil` once the connection has ended.
    func push(_ bytes: Data) -> Int? {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return Self.outcome(bytes.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, flags) })
    }

    /// Reads the available bytes, and drops them.
    /// - Returns: the number of bytes; `nil` once the connection has ended.
    func take() -> Int? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count == 0 ? nil : Self.outcome(count)
    }

    private static func outcome(_ count: Int) -> Int? {
        count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Waits until one of them is readable, or writable if it has to send; 20 ms at most.
    static func wait(for sockets: [(socket: AttackSocket, sends: Bool)]) {
        var all = sockets.map {
            pollfd(fd: $0.socket.socket, events: Int16($0.sends ? POLLIN | POLLOUT : POLLIN), revents: 0)
        }
        poll(&all, nfds_t(all.count), 20)
    }

    /// The status of the next reply; `nil` if none arrives in time.
    func status() -> Int? {
        let line = String(decoding: reply().prefix(12), as: UTF8.self)
        return line.hasPrefix("HTTP/1.1 ") ? Int(line.suffix(3)) : nil
    }

    /// Reads the next reply to its end, or until the connection is closed.
    func reply() -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while !Self.isWhole(bytes) {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        return bytes
    }

    private static func isWhole(_ bytes: Data) -> Bool {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { return false }
        let length = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        return bytes.distance(from: end.upperBound, to: bytes.endIndex) >= length ?? 0
    }

    private static func withAddress(
        _ text: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
