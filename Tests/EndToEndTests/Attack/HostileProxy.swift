import Foundation
import LatchkeyCore
import LatchkeyTesting

/// A server in front of an honest one that damages one in six replies, each time in another way.
final class HostileProxy: Sendable {
    private let server: LoopbackServer
    private let damage: Locked<ReplyDamage>

    /// - Parameters:
    ///   - port: the honest server's.
    ///   - seed: the sequence of damages depends on it alone.
    init(to port: UInt16, seed: UInt64) throws {
        let damage = Locked(ReplyDamage(seed: seed))
        self.damage = damage
        server = try LoopbackServer { request, _ in
            guard let socket = AttackSocket(port: port, from: "127.0.0.1", patience: 20) else { return .bytes(Data()) }
            socket.send(request)
            let reply = socket.reply()
            return damage.withLock { $0.next(reply) }
        }
    }

    var address: String { "http://127.0.0.1:\(server.port)" }
    var damages: Int { damage.withLock { $0.count } }
}

/// A hostile server's change of an honest reply.
struct ReplyDamage {
    private var generator: SeededGenerator
    private(set) var count = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let statuses = [
        100, 101, 103, 199, 201, 204, 205, 206, 300, 301, 302, 304, 307, 400, 401, 403, 404, 407, 410, 413, 429, 451,
        500, 502,
        503, 511, 600, 999,
    ]

    private static let fields = [
        "Content-Length: -1", "Content-Length: 99999999999999999999999", "Content-Length: 3", "Content-Encoding: gzip",
        "Content-Encoding: br", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked",
        "Location: file:///etc/passwd",
        "Location: http://127.0.0.1:1/", "Location: \u{1b}[31mred", "Set-Cookie: a=b", "Retry-After: 1",
        "Retry-After: -9e99",
        "X-\u{1b}]0;title\u{7}: 1", "Content-Type: text/html; charset=\u{0}", "Date: Thu, 01 Jan 1970 00:00:00 GMT",
        ": nameless",
        "Folded: a\r\n b",
    ]

    private static let bodies = [
        "", "{", "[[[[[[[[", "\u{1b}[2J\u{7}\u{9b}31m", "<html><body>busy</body></html>",
        "#EXTM3U\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"",
        "#EXTM3U\n#EXT-X-TARGETDURATION:99999999999999999999\n#EXTINF:1e308,\n../../../../etc/passwd\n",
        "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n#EXTINF:-1,\na.ts\n",
        "{\"ckc\":\"AAAA\",\"code\":1e999,\"message\":null}",
        "<ckc>!!!!</ckc>", "\u{0}\u{0}\u{0}\u{1}", String(repeating: "{\"a\":", count: 5_000),
        String(repeating: "#EXT-X-KEY:METHOD=NONE\n", count: 20_000),
    ]

    /// The reply as it is, or damaged.
    mutating func next(_ reply: Data) -> LoopbackServer.Action {
        guard Int.random(in: 0..<6, using: &generator) == 0 else { return .bytes(reply) }
        count += 1
        let end = reply.firstRange(of: Data("\r\n\r\n".utf8)) ?? reply.endIndex..<reply.endIndex
        let head = String(decoding: reply[..<end.lowerBound], as: UTF8.self)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return .bytes(reply.prefix(Int.random(in: 0...reply.count, using: &generator)))
        case 1: return .bytes(flipped(reply, from: reply.startIndex))
        case 2: return .bytes(flipped(reply, from: end.upperBound))
        case 3: return .bytes(Data(withStatus(head).utf8) + reply[end.lowerBound...])
        case 4: return .bytes(Data((head + "\r\n" + pick(Self.fields)).utf8) + reply[end.lowerBound...])
        case 5: return LoopbackServer.reply("200 OK", body: pick(Self.bodies))
        case 6: return .flood("HTTP/1.1 200 OK\r\n\r\n")
        default: return .endless("HTTP/1.1 200 OK\r\n", piece: pick(["X: y\r\n", "a", "\r\n", "1\r\na\r\n"]))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    private mutating func withStatus(_ head: String) -> String {
        head.replacing(" 200 ", with: " \(pick(Self.statuses)) ", maxReplacements: 1)
    }

    private mutating func flipped(_ reply: Data, from start: Data.Index) -> Data {
        var bytes = reply
        guard start < reply.endIndex else { return bytes }
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            bytes[Int.random(in: start..<reply.endIndex, using: &generator)] = .random(in: 0...255, using: &generator)
        }
        return bytes
    }
}
