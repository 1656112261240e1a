import Foundation
import FoundationNetworking
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@Suite struct HTTPServerLimitTests {
    @Test(arguments: [(999, 200), (1_000, 200), (1_001, 413), (4_000, 413)])
    func `a body beyond the limit is refused and the refusal is seen`(_ count: Int, _ status: Int) async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { .text("\($0.body.count)") }) { port in
            let reply = try await fetch(port, "/") {
                $0.httpMethod = "POST"
                $0.httpBody = Data(repeating: 7, count: count)
            }
            #expect(reply.status == status)
            #expect(reply.status != 200 || reply.body == Data("\(count)".utf8))
        }
    }

    @Test func `a body that says it is enormous is refused before it is sent`() async throws {
        try await withServer(answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n")
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `a client that asks before sending too much is refused at once`() async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n")
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `an endless chunked body is cut off`() async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<100 { connection.send("64\r\n" + String(repeating: "x", count: 100) + "\r\n") }
            let (text, ending) = await connection.readToEnd()
            #expect(text.isEmpty)
            #expect(ending != .silent)
        }
    }

    @Test(arguments: [(1, 3_000, 200), (1, 5_000, 431), (1, 200_000, 431), (400, 20, 431)])
    func `header fields beyond the limit are refused`(_ fields: Int, _ length: Int, _ status: Int) async throws {
        try await withServer({ $0.headerBytes = 4_096 }, answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            let field = String(repeating: "v", count: length)
            let lines = (0..<fields).map { "X-\($0): \(field)\r\n" }.joined()
            connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(lines)\r\n")
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 \(status)"))
        }
    }

    @Test func `a handler that is too slow gets its client a 503 and is cancelled`() async throws {
        let time = ManualTimekeeper()
        let cancelled = Gate()
        try await withServer({ $0.exchangeDeadline = .seconds(5) }, clock: .manual(time)) { _ in
            await withTaskCancellationHandler {
                await cancelled.pass()
            } onCancel: {
                Task { await cancelled.open() }
            }
            return .text("too late")
        } _: { port in
            async let reply = fetch(port, "/")
            await cancelled.untilSomeoneArrives()
            await time.untilSomeoneSleeps()
            time.advance(by: .seconds(5))
            let outcome = try await reply.status
            #expect(outcome == 503)
            await cancelled.pass()
        }
    }

    @Test func `a body that takes longer than the deadline is not waited for`() async throws {
        let time = ManualTimekeeper()
        try await withServer({ $0.exchangeDeadline = .seconds(5) }, clock: .manual(time)) { _ in
            .text("ok")
        } _: { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n12345")
            await time.untilSomeoneSleeps()
            time.advance(by: .seconds(5))
            while connection.send("x") { await Task.yield() }
            #expect(await connection.readToEnd().text.isEmpty)
        }
    }

    @Test func `more connections than allowed wait for their turn`() async throws {
        try await withServer(
            {
                $0.connections = 1; $0.threads = 1
            }, answering: { .text($0.path) }
        ) { port in
            let first = try RawConnection(port: port)
            first.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await first.readReply().hasSuffix("/first"))
            let second = try RawConnection(port: port)
            second.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
            first.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(await first.readToEnd().text.hasSuffix("/last"))
            #expect(await second.readReply().hasSuffix("/second"))
        }
    }
}
