import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPServerLifeTests {
    @Test func `stopping lets open exchanges finish`() async throws {
        let gate = Gate()
        let server = HTTPServer(.patient) { _ in
            await gate.wait()
            return .text("finished")
        }
        let port = try server.start()
        async let reply = fetch(port, "/")
        await gate.untilSomeoneArrives()
        async let stopped: Void = server.stop(within: .seconds(900))
        try await until { server.port == nil }
        gate.open()
        let outcome = try await reply.body
        #expect(outcome == Data("finished".utf8))
        await stopped
        #expect(server.port == nil)
    }

    @Test func `stopping answers late exchanges`() async throws {
        let time = ManualTimekeeper()
        let gate = Gate()
        let server = HTTPServer(.patient, time: time) { _ in
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                Task { gate.open() }
            }
            return .text("too late")
        }
        let port = try server.start()
        async let reply = fetch(port, "/")
        await gate.untilSomeoneArrives()
        async let stopped: Void = server.stop(within: .seconds(1))
        try await until { server.port == nil }
        await time.untilSomeoneSleeps(for: .seconds(1))
        time.advance(by: .seconds(1))
        let outcome = try await reply.status
        #expect(outcome == 503)
        await stopped
    }

    @Test func `from the drain on each reply ends its connection, and new connections are served`() async throws {
        let server = HTTPServer(.patient) { .text($0.path) }
        let port = try server.start()
        let connections = try (0..<3).map { _ in try RawConnection(port: port) }
        for connection in connections {
            connection.send("GET /before HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await !connection.readReply().contains("Connection: close"))
        }
        server.drain()
        for connection in connections + [try RawConnection(port: port)] {
            connection.send("GET /after HTTP/1.1\r\nHost: a\r\n\r\n")
            let (text, ending) = await connection.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nConnection: close\r\n"))
            #expect(text.hasSuffix("/after") && ending == .closed)
        }
        await server.stop(within: .zero)
    }

    @Test func `a client that connected before the stop gets its answer, and a later one no connection`()
        async throws
    {
        let time = ManualTimekeeper()
        let server = HTTPServer(.patient, time: time) { .text($0.path) }
        let port = try server.start()
        let connection = try RawConnection(port: port)
        let stopped = Gate()
        Task {
            await server.stop(within: .seconds(900))
            stopped.open()
        }
        await time.untilSomeoneSleeps(for: .milliseconds(10))
        #expect(throws: POSIXError.self) { try RawConnection(port: port) }
        connection.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = await connection.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("/late") && ending == .closed)
        try await until {
            time.advance(by: .milliseconds(10))
            return stopped.isOpen
        }
    }

    @Test func `a request on an open connection is answered during a stop, and is its last`() async throws {
        let gate = Gate()
        let server = HTTPServer(.patient) { request in
            if request.path == "/wait" { await gate.wait() }
            return .text("ok")
        }
        let port = try server.start()
        let connection = try RawConnection(port: port)
        connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = await connection.readReply()
        async let waiting = fetch(port, "/wait")
        await gate.untilSomeoneArrives()
        async let stopped: Void = server.stop(within: .seconds(900))
        try await until { server.port == nil }
        connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = await connection.readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nConnection: close\r\n"))
        #expect(ending == .closed)
        gate.open()
        let outcome = try await waiting.status
        #expect(outcome == 200)
        await stopped
    }

    @Test func `a request that a kept connection has begun is answered during a stop`() async throws {
        let time = ManualTimekeeper()
        let server = HTTPServer(.patient, time: time) { .text($0.path) }
        let port = try server.start()
        let connection = try RawConnection(port: port)
        connection.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = await connection.readReply()
        connection.send("GET /sec")
        let stopped = Gate()
        Task {
            await server.stop(within: .seconds(900))
            stopped.open()
        }
        await time.untilSomeoneSleeps(for: .milliseconds(10))
        connection.send("ond HTTP/1.1\r\nHost: a\r\n\r\n")
        let (text, ending) = await connection.readToEnd()
        #expect(text.hasSuffix("/second") && ending == .closed)
        try await until {
            time.advance(by: .milliseconds(10))
            return stopped.isOpen
        }
    }

    @Test func `stopping with 50 half-sent requests ends`() async throws {
        let time = ManualTimekeeper()
        let server = HTTPServer(.patient, time: time) { _ in .text("ok") }
        let port = try server.start()
        let connections = try (0..<50).map { _ in try RawConnection(port: port) }
        for connection in connections { connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123") }
        await time.untilSomeoneSleeps()
        let stopped = Gate()
        Task {
            await server.stop(within: .seconds(1))
            stopped.open()
        }
        try await until {
            time.advance(by: .seconds(1))
            return stopped.isOpen
        }
    }

    @Test func `a stopped server starts again`() async throws {
        let server = HTTPServer(.patient) { _ in .text("ok") }
        try server.start()
        await server.stop()
        let port = try server.start()
        let status = try await fetch(port, "/").status
        #expect(status == 200)
        await server.stop()
        await server.stop()
    }

    @Test func `a dropped server stops listening`() async throws {
        var server: HTTPServer? = HTTPServer(.patient) { _ in .text("ok") }
        let port = try #require(try server?.start())
        server = nil
        try await until { (try? RawConnection(port: port)) == nil }
    }

    @Test func `a second start is refused`() async throws {
        let server = HTTPServer(.patient) { _ in .text("ok") }
        try server.start()
        #expect(throws: Diagnosis.self) { try server.start() }
        await server.stop()
    }

    @Test func `a port in use is named in the error`() async throws {
        try await withServer(answering: { _ in .text("ok") }) { port in
            var configuration = HTTPServerConfiguration.patient
            configuration.port = port
            let error = #expect(throws: Diagnosis.self) {
                try HTTPServer(configuration) { _ in .text("ok") }.start()
            }
            #expect(error?.code == "httpListen")
            #expect(error?.reason.contains("port \(port)") == true)
        }
    }

    @Test(arguments: ["localhost", "", "1.2.3", "::zz"])
    func `a name instead of an address is refused`(_ address: String) throws {
        var configuration = HTTPServerConfiguration.patient
        configuration.address = address
        let error = #expect(throws: Diagnosis.self) { try HTTPServer(configuration) { _ in .text("ok") }.start() }
        #expect(error?.code == "httpAddress")
    }

    @Test func `stopping while clients come and answers go ends cleanly, repeatedly`() async throws {
        for _ in 0..<100 {
            let server = HTTPServer(.patient) { _ in .text("ok") }
            let port = try server.start()
            let clients = try (0..<4).map { _ in try RawConnection(port: port) }
            for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
            await server.stop(within: .zero)
            #expect(server.port == nil)
        }
    }

    @Test func `clients that send while a drained server stops are answered or refused a connection`() async throws {
        let outcomes = Locked<[String: Int]>([:])
        try await withThrowingTaskGroup { group in
            for _ in 0..<40 {
                group.addTask {
                    for _ in 0..<5 {
                        for outcome in try await Self.outcomes() { outcomes.withLock { $0[outcome, default: 0] += 1 } }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(outcomes.withLock { Set($0.keys) } == ["answered"], "\(outcomes.withLock { $0 })")
    }

    /// What four clients get that keep their connections, as proxies do, and connect again until they are refused.
    private static func outcomes() async throws -> [String] {
        var configuration = HTTPServerConfiguration.patient
        configuration.lastRequestDeadline = .seconds(900)
        let server = HTTPServer(configuration) { .text($0.path) }
        let port = try server.start()
        let outcomes = Locked<[String]>([])
        let clients = (0..<4).map { _ in Promise<Void, Never>() }
        for client in clients {
            Thread.detachNewThread {
                while let connection = try? RawConnection(port: port) {
                    var reply: (text: String, ending: RawConnection.Ending)
                    repeat {
                        connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
                        reply = connection.readBlocking(until: RawConnection.isWhole)
                        let isAnswered = reply.text.hasPrefix("HTTP/1.1 200 OK\r\n")
                        outcomes.withLock { $0.append(isAnswered ? "answered" : "\(reply.ending)") }
                    } while !reply.text.isEmpty && !reply.text.contains("\r\nConnection: close\r\n")
                }
                client.resolve(.success(()))
            }
        }
        try await until { outcomes.withLock { $0.count } > 10 }
        server.drain()
        await server.stop(within: .seconds(900))
        for client in clients { _ = try await client.value }
        return outcomes.withLock { $0 }
    }
}
