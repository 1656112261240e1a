import Foundation
import LatchkeyCore
import LatchkeyHTTP
import TLSPeer
import Testing

/// Requests that two servers could read differently, each with another one hidden behind it.
@Suite(.timeLimit(.minutes(5))) struct RequestShapeTests {
    @Test(arguments: RequestShape.refused, [false, true])
    func `an ambiguous request gets one refusal, and nothing after it is read`(
        _ shape: RequestShape, _ isTLS: Bool
    ) async throws {
        let seen = Locked<[String]>([])
        let identity = try SelfSigned()
        try await withServer({ if isTLS { $0.tls = identity.tls } }) { request in
            seen.withLock { $0.append(request.path) }
            return .text("taken")
        } _: { port in
            let reply = try await RawExchange.run(shape.bytes, port: port, isTLS: isTLS)
            #expect(reply.status == shape.status)
            #expect(reply.isOneRefusal, "\(String(decoding: reply.bytes.prefix(400), as: UTF8.self))")
        }
        #expect(seen.withLock { $0 } == [])
    }

    @Test(arguments: RequestShape.refused)
    func `a later request on a connection is judged like the first`(_ shape: RequestShape) async throws {
        let seen = Locked<[String]>([])
        let good = Data(
            ("POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                + "POST /second HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n")
                .utf8)
        try await withServer { request in
            seen.withLock { $0.append(request.path) }
            return .text("taken")
        } _: { port in
            let reply = try await RawExchange.run(good + shape.bytes, port: port)
            let text = String(decoding: reply.bytes, as: UTF8.self)
            #expect(reply.headCount == 3)
            #expect(text.components(separatedBy: "HTTP/1.1 \(shape.status) ").count == 2)
        }
        #expect(seen.withLock { $0 } == ["/first", "/second"])
    }

    @Test(arguments: RequestShape.refused.filter { $0.bytes.count < 400 })
    func `a request that arrives byte by byte is judged like a whole one`(_ shape: RequestShape) async throws {
        try await withServer(answering: { _ in .text("taken") }) { port in
            let connection = try RawConnection(port: port)
            for byte in shape.bytes { guard connection.send(Data([byte])) else { break } }
            let text = await connection.readToEnd().text
            #expect(text.hasPrefix("HTTP/1.1 \(shape.status) "))
            #expect(!text.contains("taken"))
        }
    }

    @Test(arguments: [
        "\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a/a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost:\ta:80\t\r\nX:\ty\r\n\r\n", "GET /a HTTP/1.1\r\nHost: [::1]:80\r\nX:\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tChunked \r\n\r\n00003;a=\"b\"\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\nContent_Length: 9\r\n\r\nabc",
        "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    ])
    func `an unambiguous request is taken, and so is the next`(_ text: String) async throws {
        try await withServer(answering: { .text($0.path) }) { port in
            let connection = try RawConnection(port: port)
            connection.send(text + "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let reply = await connection.readToEnd().text
            #expect(reply.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 3)
            #expect(reply.hasSuffix("/next"))
        }
    }

    @Test(arguments: [("1\r\na\r\n", 4_000, 4_000), ("10;x=y\r\n0123456789abcdef\r\n", 10_000, 160_000)])
    func `some one-byte chunks are a body, and so are any number longer than their framing`(
        _ chunk: String, _ count: Int, _ bytes: Int
    ) async throws {
        try await withServer(answering: { .text("\($0.body.count)") }) { port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: chunk, count: count) + "0\r\n\r\n")
            #expect(await connection.readReply().hasSuffix("\r\n\(bytes)"))
        }
    }

    @Test func `an HTTP/1.0 client gets its reply and the end of the connection`() async throws {
        try await withServer(answering: { .text($0.path) }) { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /old HTTP/1.0\r\n\r\n")
            let (text, ending) = await connection.readToEnd()
            #expect(text.hasSuffix("/old"))
            #expect(ending == .closed)
        }
    }
}
