import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySystem
import LatchkeyTesting
import Testing

/// Servers that share the open files of a process.
@Suite(.timeLimit(.minutes(5))) struct OpenFileTests {
    private static let request = "GET /honest HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Two servers whose process has a limit of open files.
    private func withServers(
        limit: Int, _ body: (OpenFileBudget, [UInt16]) async throws -> Void
    ) async throws -> OpenFileBudget {
        let budget = OpenFileBudget { limit }
        var configuration = HTTPServerConfiguration.patient
        (configuration.openFiles, configuration.threads) = (budget, 1)
        let servers = [HTTPServer(configuration) { .text($0.path) }, HTTPServer(configuration) { .text($0.path) }]
        do {
            try await body(budget, try servers.map { try $0.start() })
        } catch {
            for server in servers { await server.stop(within: .zero) }
            throw error
        }
        for server in servers { await server.stop(within: .zero) }
        return budget
    }

    @Test func `idle strangers on two listeners take only free places, and honest clients of both get in`()
        async throws
    {
        let budget = try await withServers(limit: 140) { budget, ports in
            var crowd: [RawConnection] = []
            for _ in 0..<60 {
                for port in ports { crowd.append(try RawConnection(port: port)) }
                #expect(budget.taken <= budget.capacity(for: .client))
            }
            for port in ports + ports {
                for address in ["127.0.0.1", "127.0.0.2"] {
                    let honest = try RawConnection(port: port, from: address)
                    honest.send(Self.request)
                    #expect(await honest.readReply().hasSuffix("/honest"))
                    #expect(budget.taken <= budget.capacity(for: .client))
                }
            }
            withExtendedLifetime(crowd) {}
        }
        #expect(budget.taken == 0)
    }

    @Test func `strangers on one listener make room for clients of another`() async throws {
        _ = try await withServers(limit: 140) { budget, ports in
            let crowd = try (0..<100).map { _ in try RawConnection(port: ports[0]) }
            let honest = try (0..<10).map { _ in try RawConnection(port: ports[1]) }
            for one in honest {
                one.send(Self.request)
                #expect(await one.readReply().hasSuffix("/honest"))
            }
            withExtendedLifetime(crowd) {}
        }
    }

    @Test(arguments: [true, false])
    func `a new client keeps its place until it could have sent its request`(_ sends: Bool)
        async throws
    {
        let (gate, time, begun) = (Gate(), ManualTimekeeper(), Locked(0))
        let budget = OpenFileBudget { 64 + 32 + 6 + 17 }
        let configure: (inout HTTPServerConfiguration) -> Void = { ($0.openFiles, $0.threads) = (budget, 1) }
        try await withServer(configure, time: time, answering: { .text($0.path) }) { quiet in
            try await withServer(configure, time: time) { request in
                begun.withLock { $0 += 1 }
                await gate.wait()
                return .text(request.path)
            } _: { port in
                let busy = try (0..<16).map { _ in try RawConnection(port: port) }
                for one in busy { one.send("GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
                try await until { begun.withLock { $0 } == 16 }
                let honest = try RawConnection(port: quiet, from: "127.0.0.2")
                try await until { budget.left(for: .client) == 0 }
                let late = try RawConnection(port: port)
                late.send(Self.request)
                await time.untilSomeoneSleeps(for: .milliseconds(100))
                if sends { honest.send(Self.request) }
                time.advance(by: .milliseconds(100))
                #expect(await honest.readReply().hasSuffix(sends ? "/honest" : ""))
                gate.open()
                #expect(await late.readReply().hasSuffix("/honest"))
                for one in busy { #expect(await one.readReply().hasSuffix("/wait")) }
            }
        }
    }

    @Test func `a connection whose requests are being read keeps its place`() async throws {
        let budget = OpenFileBudget { 1_024 }
        let time = DemandingTimekeeper { budget.makeRoom() }
        try await withServer({ ($0.openFiles, $0.threads) = (budget, 1) }, time: time, answering: { .text($0.path) }) {
            port in
            let honest = try RawConnection(port: port)
            honest.send(Self.request)
            #expect(await honest.readReply().hasSuffix("/honest"))
            time.isDemanding.withLock { $0 = true }
            honest.send(Self.request + "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let replies = await honest.readToEnd().text
            #expect(replies.contains("/honest") && replies.hasSuffix("/last"))
        }
    }

    @Test func `connections being answered are not closed for others, who wait and then get in`() async throws {
        let gate = Gate()
        let budget = OpenFileBudget { 64 + 32 + 3 + 16 }
        let begun = Locked(0)
        try await withServer({ ($0.openFiles, $0.threads) = (budget, 1) }) { request in
            if request.path == "/wait" {
                begun.withLock { $0 += 1 }
                await gate.wait()
            }
            return .text(request.path)
        } _: { port in
            let busy = try (0..<16).map { _ in try RawConnection(port: port) }
            for one in busy { one.send("GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
            // A connection whose head has not been read yet may be closed for others.
            try await until { begun.withLock { $0 } == 16 && budget.left(for: .client) == 0 }
            let late = try RawConnection(port: port)
            late.send(Self.request)
            gate.open()
            for one in busy { #expect(await one.readReply().hasSuffix("/wait")) }
            #expect(await late.readReply().hasSuffix("/honest"))
        }
    }

    @Test func `idle connections that take the last place stay while no client waits`() async throws {
        let budget = OpenFileBudget { 64 + 32 + 3 + 20 }
        try await withServer({ ($0.openFiles, $0.threads) = (budget, 1) }, answering: { .text($0.path) }) { port in
            var all: [RawConnection] = []
            for number in 1...20 {
                all.append(try RawConnection(port: port))
                try await until { budget.taken == 3 + number }
            }
            for one in all + all {
                one.send(Self.request)
                #expect(await one.readReply().hasSuffix("/honest"))
            }
        }
    }

    @Test func `500 unread replies keep no place from an honest client`() async throws {
        let large = HTTPResponse(status: 200, contentType: "text/plain", bytes: Data(repeating: 1, count: 8 << 20))
        try await withServer({ ($0.connections, $0.connectionsPerAddress) = (64, 32) }) {
            $0.path == "/large" ? large : .text($0.path)
        } _: { port in
            var crowd: [RawConnection] = []
            for number in 0..<500 {
                let one = try RawConnection(port: port)
                one.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                crowd.append(one)
                guard number % 10 == 0 else { continue }
                let honest = try RawConnection(port: port)
                honest.send(Self.request)
                #expect(await honest.readReply().hasSuffix("/honest"))
            }
            withExtendedLifetime(crowd) {}
        }
    }

    @Test func `a process with too few files does not start a server, and says how many it needs`() throws {
        var configuration = HTTPServerConfiguration.patient
        configuration.openFiles = OpenFileBudget { 64 }
        let error = #expect(throws: Diagnosis.self) { try HTTPServer(configuration) { _ in .text("ok") }.start() }
        #expect(error?.code == "httpOpenFiles")
    }

    @Test(arguments: [0, 48, 100, 124])
    func `the error names the least limit with which all servers start`(_ limit: Int) throws {
        func start(_ limit: Int) throws {
            var configuration = HTTPServerConfiguration.patient
            (configuration.openFiles, configuration.threads) = (OpenFileBudget { limit }, 2)
            _ = try HTTPServer.start((0..<3).map { _ in HTTPServer(configuration) { _ in .text("ok") } })
        }
        // A reserve of 64 and 32, three listeners with two loops and threads each, and 16 clients.
        let least = 64 + 32 + 3 * 5 + 16
        let error = #expect(throws: Diagnosis.self) { try start(limit) }
        #expect(error?.reason.contains("needs at least \(least)") == true)
        #expect(throws: Diagnosis.self) { try start(least - 1) }
        try start(least)
    }
}

/// A clock that asks for room each time that a server reads it: in the middle of its work.
private final class DemandingTimekeeper: Timekeeper {
    let isDemanding = Locked(false)
    private let time = ManualTimekeeper()
    private let demand: @Sendable () -> Void

    init(demand: @escaping @Sendable () -> Void) { self.demand = demand }

    var date: Date { time.date }
    func sleep(for duration: Duration) async throws { try await time.sleep(for: duration) }

    var uptime: Duration {
        // The search for a connection reads the clock, too.
        if isDemanding.withLock({ $0.take() }) {
            demand()
            isDemanding.withLock { $0 = true }
        }
        return time.uptime
    }
}

extension Bool {
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
