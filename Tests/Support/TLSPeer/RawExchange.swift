import CGnuTLS
package import Foundation

/// Bytes for a server on this machine, and everything that it answers until it ends the connection.
package enum RawExchange {
    /// Sends and reads; off the cooperative pool.
    /// - Parameter isTLS: whether over TLS.
    package static func run(_ bytes: Data, port: UInt16, isTLS: Bool = false) async throws -> RawReply {
        guard isTLS else {
            return try await TLSConnection.aside {
                let socket = try LocalSocket(port)
                // A server that refuses may stop reading.
                Thread.detachNewThread { socket.send(bytes) }
                return RawReply(socket.readToEnd())
            }
        }
        let connection = try await TLSConnection.open(port)
        return RawReply(try await connection.exchange(bytes))
    }
}

/// A server's answer, in parts.
package struct RawReply: Sendable {
    /// All of it.
    package let bytes: Data
    /// The status of the first reply, or `nil`.
    package let status: Int?
    /// The number of heads of replies.
    package let headCount: Int
    /// The bytes after the first head.
    package let body: Data
    package let head: String

    init(_ bytes: Data) {
        self.bytes = bytes
        let text = String(decoding: bytes, as: UTF8.self)
        headCount = text.components(separatedBy: "HTTP/1.1 ").dropFirst().count { $0.prefix(4).first?.isNumber == true }
        status = text.hasPrefix("HTTP/1.1 ") ? Int(text.dropFirst(9).prefix(3)) : nil
        let end = bytes.firstRange(of: Data("\r\n\r\n".utf8))
        body = end.map { Data(bytes[$0.upperBound...]) } ?? Data()
        head = end.map { String(decoding: bytes[..<$0.lowerBound], as: UTF8.self) } ?? text
    }

    /// Whether it is one reply, which ends the connection, with the JSON that refuses.
    package var isOneRefusal: Bool {
        let object = try? JSONSerialization.jsonObject(with: body) as? [String: [String: String]]
        let error = object?["error"] ?? [:]
        return headCount == 1 && Set(error.keys) == ["code", "message", "reason", "remedy"]
            && error.values.allSatisfy { !$0.isEmpty } && head.contains("\r\nConnection: close")
            && head.contains("\r\nContent-Type: application/json")
            && head.contains("\r\nContent-Length: \(body.count)")
    }
}

/// A plain connection to this machine.
// Sound because one thread sends and one reads.
package final class LocalSocket: @unchecked Sendable {
    private let socket: Int32

    package init(_ port: UInt16) throws { socket = try TLSConnection.connect(port) }

    deinit { close(socket) }

    package func send(_ bytes: Data) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Reads the status of a reply that may never end; off the cooperative pool.
    package func readStatus() async throws -> Int? {
        try await TLSConnection.aside { [self] in
            var (all, buffer) = (Data(), [UInt8](repeating: 0, count: 64))
            while all.count < 12 {
                let count = recv(socket, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                all += buffer.prefix(count)
            }
            return RawReply(all).status
        }
    }

    /// Continues to read until a text has come, or the end; off the cooperative pool.
    /// - Returns: the text that this call read.
    package func read(until text: String) async throws -> String {
        try await TLSConnection.aside { [self] in
            var (all, buffer) = (Data(), [UInt8](repeating: 0, count: 4_096))
            while all.firstRange(of: Data(text.utf8)) == nil {
                let count = recv(socket, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                all += buffer.prefix(count)
            }
            return String(decoding: all, as: UTF8.self)
        }
    }

    func readToEnd() -> Data {
        var (all, buffer) = (Data(), [UInt8](repeating: 0, count: 16_384))
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return all }
            all += buffer.prefix(count)
        }
    }
}
