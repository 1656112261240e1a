import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct HTTPServerLimitTests {
    @Test(arguments: [(999, 200), (1_000, 200), (1_001, 413), (4_000, 413), (64_000, 413), (64_001, 413)])
    func `a body beyond the limit is refused and the refusal arrives`(_ count: Int, _ status: Int) async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { .text("\($0.body.count)") }) { port in
            let reply = try await fetch(port, "/") {
                $0.httpMethod = "POST"
                $0.httpBody = Data(repeating: 7, count: count)
            }
            #expect(reply.status == status)
            #expect(reply.status != 200 || reply.body == Data("\(count)".utf8))
        }
    }

    @Test func `the server's own refusals are completed like other replies`() async throws {
        let (time, gate, hasBegun, refused) = (ManualTimekeeper(), Gate(), Locked(false), Locked<[Int]>([]))
        var configuration = HTTPServerConfiguration.patient
        configuration.exchangeDeadline = .seconds(5)
        let server = HTTPServer(
            configuration, time: time, startTask: { Task(operation: $0) },
            complete: { response, request in
                refused.withLock { $0.append(response.status) }
                var response = response
                response.headers["X-Path"] = (request?.path ?? "") + (request?.headers["Origin"] ?? "")
                return response
            },
            begin: { _ in
                hasBegun.withLock { $0 = true }
                return .task {
                    await gate.wait()
                    return .text("late")
                }
            })
        let port = try server.start()
        let large = String(repeating: "a", count: 40_000)
        for (rest, status) in [
            // The first: no earlier request's clock is taken for its own.
            ("Content-Length: 1000000\r\n\r\n", 408), ("\r\n", 503), ("Content-Length: 1000000000\r\n\r\n", 413),
            ("Authorization: \(large)\r\nOrigin: b\r\n\r\n", 431),
            (String(repeating: "A: a\r\n", count: 300) + "\r\n", 431),
            ("Authorization: a\r\nAuthorization: a\r\nOrigin: b\r\n\r\n", 400), ("Expect: x\r\nOrigin: b\r\n\r\n", 417),
            ("Transfer-Encoding: gzip\r\nOrigin: b\r\n\r\n", 501), ("A: a\r\n b\r\n\r\n", 400),
        ] {
            let connection = try RawConnection(port: port)
            let origin = rest.contains("Origin") ? "" : "Origin: b\r\n"
            connection.send("POST /a HTTP/1.1\r\nHost: a\r\n\(origin)\(rest)")
            // The clock of the previous request may still be running.
            if status == 503 { try await until { hasBegun.withLock { $0 } } }
            if [408, 503].contains(status) {
                await time.untilSomeoneSleeps(for: .seconds(5))
                time.advance(by: .seconds(5))
            }
            // A late body is refused with its next bytes.
            if status == 408 { try await until { !connection.send("x") || connection.hasReply } }
            let text = await connection.readToEnd().text
            #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.contains("\r\nX-Path: /ab\r\n"))
            #expect(refused.withLock { $0.last } == status)
        }
        gate.open()
        // Each refusal is completed once, and no other reply is.
        #expect(try await fetch(port, "/").status == 200)
        #expect(refused.withLock { $0.count } == 9)
        await server.stop(within: .zero)
    }

    @Test func `a body of enormous stated size is refused before it is sent`() async throws {
        try await withServer(answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n")
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `a client that asks before sending too much is refused`() async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n")
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `an endless chunked body is cut off with a reply`() async throws {
        try await withServer({ $0.bodyBytes = 1_000 }, answering: { _ in .text("ok") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "3e8\r\n" + String(repeating: "x", count: 1_000) + "\r\n"
            while connection.send(chunk) { try Task.checkCancellation() }
            let (text, ending) = await connection.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
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
        try await withServer({ $0.exchangeDeadline = .seconds(5) }, time: time) { _ in
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                Task { cancelled.open() }
            }
            return .text("too late")
        } _: { port in
            async let reply = fetch(port, "/")
            await cancelled.untilSomeoneArrives()
            await time.untilSomeoneSleeps(for: .seconds(5))
            time.advance(by: .seconds(5))
            let outcome = try await reply.status
            #expect(outcome == 503)
            await cancelled.wait()
        }
    }

    @Test func `a body that exceeds the deadline is not awaited`() async throws {
        let time = ManualTimekeeper()
        try await withServer({ $0.exchangeDeadline = .seconds(5) }, time: time) { _ in
            .text("ok")
        } _: { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n12345")
            await time.untilSomeoneSleeps(for: .seconds(5))
            time.advance(by: .seconds(5))
            try await until { !connection.send("x") || connection.hasReply }
            #expect(await connection.readToEnd().text.hasPrefix("HTTP/1.1 408"))
        }
    }
}
