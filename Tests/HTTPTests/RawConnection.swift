import Foundation

/// A plain socket to a server on this machine, for bytes that URLSession would not send or would hide.
final class RawConnection: Sendable {
    enum Ending: Equatable { case closed, reset, silent }

    private let socket: Int32

    /// - Parameter source: the address of this end; any of `127.0.0.0/8`, so that a test can be several clients.
    init(port: UInt16, from source: String = "127.0.0.1") throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 900, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let socket = socket
        let isBound = Self.withAddress(source, port: 0) { bind(socket, $0, $1) } == 0
        guard isBound, Self.withAddress("127.0.0.1", port: port, { connect(socket, $0, $1) }) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit { close(socket) }

    private static func withAddress(
        _ text: String, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
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

    /// - Returns: false once the server has ended the connection.
    @discardableResult
    func send(_ text: String) -> Bool { send(Data(text.utf8)) }

    /// - Returns: false once the server has ended the connection.
    @discardableResult
    func send(_ bytes: Data) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Whether something of a reply has arrived.
    var hasReply: Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Announces that nothing more will be sent.
    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Reads until the server ends the connection; off the cooperative pool.
    func readToEnd() async -> (text: String, ending: Ending) {
        await read { _ in false }
    }

    /// Reads and throws away until the connection ends. Blocks.
    func discardAll() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while recv(socket, &buffer, buffer.count, 0) > 0 {}
    }

    /// Reads one reply with a `Content-Length`, and leaves the connection open.
    func readReply() async -> String {
        await read(until: Self.isWhole).text
    }

    private func read(until isEnough: @escaping @Sendable ([UInt8]) -> Bool) async -> (text: String, ending: Ending) {
        await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: self.readBlocking(until: isEnough)) }
        }
    }

    /// Blocks.
    func readBlocking(until isEnough: ([UInt8]) -> Bool) -> (text: String, ending: Ending) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var ending = Ending.silent
        while !isEnough(bytes) {
            let count = recv(socket, &buffer, buffer.count, 0)
            // A signal to the process ends a call that has a timeout.
            if count < 0, errno == EINTR { continue }
            if count == 0 { ending = .closed }
            if count < 0 { ending = errno == ECONNRESET ? .reset : .silent }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return (String(decoding: bytes, as: UTF8.self), ending)
    }

    static func isWhole(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let head = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<head.lowerBound].split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) }
        return text[head.upperBound...].utf8.count >= length ?? 0
    }
}
