import LatchkeyHTTP
import LatchkeyTesting
import Testing

/// Connections that do nothing or too little, and clients that want to get in at the same time.
@Suite(.timeLimit(.minutes(5))) struct HTTPServerCrowdTests {
    private static let request = "GET /honest HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(
        arguments: ["127.0.0.1", "127.0.0.2"],
        ["", "GET / HTTP/1.1\r\nX-Slow", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"])
    func `an honest client gets past a waiting crowd`(_ address: String, _ words: String) async throws {
        // One thread takes them in order of arrival; several may take forty of the crowd between an honest one and its request.
        try await withServer({ ($0.connections, $0.threads) = (40, 1) }, answering: { .text($0.path) }) { port in
            let crowd = try (0..<120).map { _ in try RawConnection(port: port) }
            for connection in crowd { connection.send(words) }
            for _ in 0..<3 {
                let honest = try RawConnection(port: port, from: address)
                let isSent = honest.send(Self.request)
                let reply = await honest.readReply()
                #expect(reply.hasSuffix("/honest"), "sent: \(isSent), received: \(reply)")
            }
            withExtendedLifetime(crowd) {}
        }
    }

    @Test func `a crowd from one address loses only its own places`() async throws {
        let time = ManualTimekeeper()
        try await withServer(
            { ($0.connections, $0.threads) = (8, 1) }, time: time, answering: { .text($0.path) }
        ) { port in
            let honest = try RawConnection(port: port, from: "127.0.0.2")
            honest.send(Self.request)
            #expect(await honest.readReply().hasSuffix("/honest"))
            time.advance(by: .seconds(60))
            let crowd = try (0..<40).map { _ in try RawConnection(port: port) }
            #expect(await crowd[0].readToEnd().ending == .closed)
            honest.send(Self.request)
            #expect(await honest.readReply().hasSuffix("/honest"))
        }
    }

    @Test func `no address takes more places than it may`() async throws {
        try await withServer(
            {
                $0.connectionsPerAddress = 4
                // One thread takes them in order of arrival.
                $0.threads = 1
            }, answering: { .text($0.path) }
        ) { port in
            let crowd = try (0..<20).map { _ in try RawConnection(port: port) }
            for connection in crowd.prefix(16) { #expect(await connection.readToEnd().ending == .closed) }
            for connection in crowd.suffix(4) {
                connection.send(Self.request)
                #expect(await connection.readReply().hasSuffix("/honest"))
            }
        }
    }

    @Test func `an address's place limit can change while the server runs`() async throws {
        var configuration = HTTPServerConfiguration.patient
        (configuration.connectionsPerAddress, configuration.threads) = (2, 1)
        let server = HTTPServer(configuration) { .text($0.path) }
        let port = try server.start()
        func crowd(of count: Int) throws -> [RawConnection] {
            try (0..<count).map { _ in try RawConnection(port: port) }
        }
        func expectAnswers(_ connections: some Sequence<RawConnection>) async {
            for connection in connections {
                connection.send(Self.request)
                #expect(await connection.readReply().hasSuffix("/honest"))
            }
        }
        server.connectionsPerAddress = 6
        let all = try crowd(of: 6)
        await expectAnswers(all)
        server.connectionsPerAddress = 4
        for connection in all.prefix(2) { #expect(await connection.readToEnd().ending == .closed) }
        await expectAnswers(all.suffix(4))
        let late = try crowd(of: 3)
        for connection in all[2..<5] { #expect(await connection.readToEnd().ending == .closed) }
        await expectAnswers(late + all.suffix(1))
        await server.stop(within: .zero)
        #expect(try server.start() > 0 && server.connectionsPerAddress == 4)
        await server.stop(within: .zero)
    }

    @Test func `a sent request gets its answer even if a burst of connections follows`() async throws {
        try await withServer({ ($0.connections, $0.threads) = (4, 1) }, answering: { .text($0.path) }) { port in
            for _ in 0..<20 {
                let honest = try RawConnection(port: port)
                honest.send(Self.request)
                let burst = try (0..<20).map { _ in try RawConnection(port: port) }
                #expect(await honest.readReply().hasSuffix("/honest"))
                withExtendedLifetime(burst) {}
            }
        }
    }

    @Test func `an exchange that is being answered keeps its place`() async throws {
        let gate = Gate()
        try await withServer({ $0.connections = 1 }) { request in
            await gate.wait()
            return .text(request.path)
        } _: { port in
            let first = try RawConnection(port: port)
            first.send(Self.request)
            await gate.untilSomeoneArrives()
            let second = try RawConnection(port: port)
            #expect(await second.readToEnd().ending != .silent)
            gate.open()
            #expect(await first.readReply().hasSuffix("/honest"))
        }
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\nX-Slow"])
    func `a head that is late ends the connection`(_ words: String) async throws {
        let time = ManualTimekeeper()
        try await withServer({ ($0.headDeadline, $0.threads) = (.seconds(15), 1) }, time: time) { _ in
            .text("ok")
        } _: { port in
            let connection = try RawConnection(port: port)
            connection.send(words)
            await time.untilSomeoneSleeps(for: .seconds(15))
            // One thread reads in order of arrival: it has read the words once a later connection has its reply.
            let later = try RawConnection(port: port)
            later.send(Self.request)
            #expect(await later.readReply().hasSuffix("ok"))
            time.advance(by: .seconds(15))
            let (text, ending) = await connection.readToEnd()
            #expect(text.isEmpty)
            #expect(ending == .closed)
        }
    }

    @Test func `a kept connection ends when no further request arrives in time`() async throws {
        let time = ManualTimekeeper()
        try await withServer({ ($0.headDeadline, $0.keepAlive) = (.seconds(15), .seconds(15)) }, time: time) {
            .text($0.path)
        } _: { port in
            let connection = try RawConnection(port: port)
            await time.untilSomeoneSleeps(for: .seconds(15))
            time.advance(by: .seconds(10))
            connection.send(Self.request)
            #expect(await connection.readReply().hasSuffix("/honest"))
            time.advance(by: .seconds(5))
            connection.send(Self.request)
            #expect(await connection.readReply().hasSuffix("/honest"))
            let closed = Gate()
            Task {
                _ = await connection.readToEnd()
                closed.open()
            }
            try await until {
                time.advance(by: .seconds(15))
                return closed.isOpen
            }
        }
    }

    @Test func `a connection waits longer for its next request than for the rest of a head`() async throws {
        let time = ManualTimekeeper()
        try await withServer(
            {
                ($0.headDeadline, $0.keepAlive) = (.seconds(15), .seconds(75))
                // One thread reads in the order in which it came.
                $0.threads = 1
            }, time: time, answering: { .text($0.path) }
        ) { port in
            let (slow, kept) = (try RawConnection(port: port), try RawConnection(port: port))
            func expectAnswer(on connection: RawConnection) async {
                connection.send(Self.request)
                #expect(await connection.readReply().hasSuffix("/honest"))
            }
            for _ in 0..<3 {
                for one in [slow, kept] { await expectAnswer(on: one) }
                // The work after a reply on its connection is done once another one has its reply.
                await expectAnswer(on: kept)
                time.advance(by: .seconds(74))
            }
            slow.send("GET / HTTP/1.1\r\nX-Slow")
            await expectAnswer(on: kept)
            time.advance(by: .seconds(15))
            let (text, ending) = await slow.readToEnd()
            #expect(text.isEmpty && ending == .closed)
            await expectAnswer(on: kept)
        }
    }
}
