import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPStreamTests {
    private static func reply(
        limit: Int = 64 * 1_024, _ make: @escaping @Sendable (HTTPBodyStream) async -> Void
    ) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: [.contentType: "text/event-stream"],
            body: .stream(HTTPBodyStream(limit: limit, make)))
    }

    /// Waits until the task is cancelled.
    private static func idle(_ ended: Gate) async {
        await withTaskCancellationHandler {
            await ended.wait()
        } onCancel: {
            ended.open()
        }
    }

    @Test func `pieces arrive as one body`() async throws {
        try await withServer(answering: { _ in
            Self.reply { body in for number in 1...1_000 { await body.write(Data("\(number)\n".utf8)) } }
        }) { port in
            let reply = try await fetch(port, "/")
            #expect(reply.status == 200)
            let numbers = String(decoding: reply.body, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
            #expect(numbers == Array(1...1_000))
        }
    }

    @Test func `a failed body has no end, so that no client takes it for a whole one`() async throws {
        try await withServer(answering: { _ in
            Self.reply { body in
                await body.write(Data("first".utf8))
                body.fail()
            }
        }) { port in
            let client = try RawConnection(port: port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let (text, _) = await client.readToEnd()
            #expect(text.contains("5\r\nfirst\r\n") && !text.contains("0\r\n\r\n"))
            await #expect(throws: (any Error).self) { try await fetch(port, "/") }
        }
    }

    @Test func `200 idle streams leave both threads to others`() async throws {
        let ended = Gate()
        try await withServer(
            { $0.threads = 2 },
            answering: { request in
                guard request.path == "/stream" else { return .text("ok") }
                return Self.reply { body in
                    await body.write(Data("first\n".utf8))
                    await Self.idle(ended)
                }
            }
        ) { port in
            let clients = try (0..<200).map { _ in try RawConnection(port: port) }
            for client in clients { client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n") }
            for client in clients {
                let first = await client.readReply()
                #expect(first.hasPrefix("HTTP/1.1 200"))
            }
            let other = try await fetch(port, "/")
            #expect(other.body == Data("ok".utf8))
        }
        #expect(ended.isOpen)
    }

    @Test func `an idle stream ends cleanly when the server stops`() async throws {
        let (began, ended) = (Gate(), Gate())
        let server = HTTPServer(.patient) { _ in
            Self.reply { body in
                await body.write(Data("first".utf8))
                began.open()
                await Self.idle(ended)
            }
        }
        let port = try server.start()
        let client = try RawConnection(port: port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await began.wait()
        await server.stop(within: .seconds(900))
        let (text, ending) = await client.readToEnd()
        #expect(text.hasSuffix("5\r\nfirst\r\n0\r\n\r\n"))
        #expect(ending == .closed)
        #expect(ended.isOpen)
    }

    @Test func `an idle stream ends when its client hangs up`() async throws {
        let time = ManualTimekeeper()
        let ended = Gate()
        try await withServer(
            time: time,
            answering: { _ in
                Self.reply { body in
                    await body.write(Data("first".utf8))
                    await Self.idle(ended)
                }
            }
        ) { port in
            var client: RawConnection? = try RawConnection(port: port)
            client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = await client?.readReply()
            client = nil
            try await until {
                time.advance(by: .seconds(5))
                return ended.isOpen
            }
        }
    }

    @Test func `a writer waits for a client that does not read, and memory stays bounded`() async throws {
        let written = Locked(0)
        let time = ManualTimekeeper()
        let ended = Gate()
        try await withServer(
            time: time,
            answering: { _ in
                Self.reply(limit: 10_000) { body in
                    let piece = Data(repeating: 0x61, count: 10_000)
                    while await body.write(piece) { written.withLock { $0 += 1 } }
                    ended.open()
                }
            }
        ) { port in
            var client: RawConnection? = try RawConnection(port: port)
            client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try await until { written.withLock { $0 } > 0 }
            // Sockets take some megabytes; the rest waits.
            #expect(written.withLock { $0 } < 10_000)
            client = nil
            try await until {
                time.advance(by: .seconds(5))
                return ended.isOpen
            }
        }
    }

    @Test func `the reply to HEAD has no body, and makes none`() async throws {
        let isMade = Locked(false)
        try await withServer(answering: { _ in Self.reply { _ in isMade.withLock { $0 = true } } }) { port in
            let client = try RawConnection(port: port)
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let (text, _) = await client.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 200"))
            #expect(text.hasSuffix("\r\n\r\n"))
        }
        #expect(!isMade.withLock { $0 })
    }

    @Test func `stopping while streams come and go ends cleanly, repeatedly`() async throws {
        for _ in 0..<50 {
            let server = HTTPServer(.patient) { _ in
                Self.reply { body in while await body.write(Data("piece".utf8)) { await Task.yield() } }
            }
            let port = try server.start()
            let clients = try (0..<4).map { _ in try RawConnection(port: port) }
            for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
            await server.stop(within: .zero)
            #expect(server.port == nil)
        }
    }
}
