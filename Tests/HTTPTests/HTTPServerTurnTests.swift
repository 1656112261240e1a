import Dispatch
import Foundation
import LatchkeyCore
import LatchkeyTesting
import TLSPeer
import Testing

@testable import LatchkeyHTTP

/// How much of a loop's time one connection has. The tests run the loop themselves: a server without threads.
@Suite(.timeLimit(.minutes(5))) struct HTTPServerTurnTests {
    private static let request = "GET /honest HTTP/1.1\r\nHost: a\r\n\r\n"

    /// The crowds' input, sent as fast as possible, for each stage.
    private static let floods = [
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n", count: 4),
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n",
        String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 1_000),
        String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 10),
    ]

    private static func daemon(
        _ identity: TLSIdentity? = nil, time: any Timekeeper = SystemTimekeeper(),
        _ begin: @escaping @Sendable (HTTPRequest) -> HTTPWork
    ) throws -> Daemon {
        var configuration = HTTPServerConfiguration.patient
        (configuration.threads, configuration.bodyBytes) = (1, 1 << 20)
        return try Daemon(
            configuration, identity: identity, time: time, startTask: { Task(operation: $0) }, work: nil,
            complete: { response, _ in response }, begin: begin)
    }

    @Test(arguments: floods)
    func `an honest client gets a turn between two turns of a flood, each of which ends`(_ flood: String)
        async throws
    {
        let answered = Locked(0)
        let large = HTTPResponse(status: 200, contentType: "text/plain", bytes: Data(repeating: 1, count: 4 << 20))
        // Bytes alone end a turn here: a busy machine is slow.
        let daemon = try Self.daemon(time: ManualTimekeeper()) { request in
            if request.path == "/honest" { answered.withLock { $0 += 1 } }
            return .reply(request.path == "/large" ? large : .text("ok"))
        }
        let port = try daemon.listen()
        let loop = try #require(daemon.loops.first)
        let honest = try RawConnection(port: port)
        let crowd = try (0..<8).map { _ in try RawConnection(port: port) }
        for one in crowd {
            let rest = flood.hasPrefix("POST") ? String(flood.suffix(0x10000)) : flood
            Thread.detachNewThread {
                guard one.send(flood) else { return }
                while one.send(rest) {}
            }
            // Reads everything, so that a reply never waits.
            Thread.detachNewThread { one.discardAll() }
        }
        var turns = 0
        for number in 1...50 {
            // Other clients' requests may come before it.
            for _ in 0..<10 { turns += Self.run(loop) }
            honest.send(Self.request)
            var runs = 0
            while answered.withLock({ $0 }) < number {
                turns += Self.run(loop)
                runs += 1
            }
            #expect(runs <= 2)
        }
        // The crowd has its turns as well, however late it is.
        while turns <= 8 { turns += Self.run(loop) }
        daemon.end()
    }

    /// Runs the loop once.
    /// - Returns: how many connections used up a turn.
    private static func run(_ loop: ServerLoop) -> Int {
        loop.run()
        let moved = loop.connections.values.map(\.moved)
        // The last step of a turn may begin a byte before its end.
        #expect(moved.allSatisfy { $0 <= 2 * ClientConnection.mostBytesInTurn + 1_024 })
        return moved.count { $0 >= ClientConnection.mostBytesInTurn / 4 }
    }

    @Test func `short chunks use up a turn despite their few bytes`() throws {
        let answered = Locked(0)
        let daemon = try Self.daemon { request in
            answered.withLock { $0 = request.body.count }
            return .reply(.text("ok"))
        }
        let connection = try RawConnection(port: daemon.listen())
        let loop = try #require(daemon.loops.first)
        connection.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "10\r\n0123456789abcdef\r\n", count: 2_000) + "0\r\n\r\n")
        var received = 0
        while answered.withLock({ $0 }) == 0 {
            loop.run()
            let now = loop.connections.values.first?.received ?? 0
            // 256 chunks, and one beyond the end of the turn.
            #expect(now - received <= 257 * 16)
            received = now
        }
        #expect(answered.withLock { $0 } == 32_000)
        withExtendedLifetime(connection) { daemon.end() }
    }

    @Test func `a turn ends after a millisecond`() throws {
        let (time, answered) = (ManualTimekeeper(), Locked(0))
        let daemon = try Self.daemon(time: time) { _ in
            time.advance(by: .microseconds(300))
            answered.withLock { $0 += 1 }
            return .reply(.text("ok"))
        }
        let connection = try RawConnection(port: daemon.listen())
        let loop = try #require(daemon.loops.first)
        connection.send(String(repeating: Self.request, count: 12))
        var count = 0
        while count < 12 {
            loop.run()
            let now = answered.withLock { $0 }
            #expect(now - count <= 4)
            count = now
        }
        withExtendedLifetime(connection) { daemon.end() }
    }

    @Test func `addresses take turns at a loop`() throws {
        let (loops, seen) = (Locked<[ServerLoop]>([]), Locked(-1))
        @Sendable func received() -> Int {
            loops.withLock { $0.first }?.connections.values.reduce(0) { $0 + $1.received } ?? 0
        }
        let daemon = try Self.daemon { _ in
            seen.withLock { $0 = received() }
            return .reply(.text("ok"))
        }
        let port = try daemon.listen()
        loops.withLock { $0 = daemon.loops }
        let loop = try #require(daemon.loops.first)
        let crowd = try (0..<20).map { _ in try RawConnection(port: port) }
        let honest = try RawConnection(port: port, from: "127.0.0.2")
        let part = 20_000
        for one in crowd { one.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n") }
        for one in crowd { one.send(Data(count: part)) }
        while received() < crowd.count * part { loop.run() }
        for one in crowd { one.send(Data(count: part)) }
        // The crowd's requests have arrived before it.
        honest.send(Self.request)
        while seen.withLock({ $0 }) < 0 { loop.run() }
        #expect(seen.withLock { $0 } <= (crowd.count + 1) * part)
        withExtendedLifetime((crowd, honest)) { daemon.end() }
    }

    @Test func `short TLS records use up a turn despite their few bytes`() async throws {
        let daemon = try Self.daemon(TLSIdentity(SelfSigned().tls)) { .reply(.text("\($0.body.count)")) }
        let port = try daemon.listen()
        let loop = try #require(daemon.loops.first)
        let client = Task { try await TLSConnection.open(port) }
        while loop.connections.values.first?.stage != .head {
            loop.run()
            await Task.yield()
        }
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
        try await client.value.send(Data(head.utf8) + Data(count: 1_000), inRecordsOf: 1)
        var received = 0
        while loop.connections.values.first?.stage != .head || received == 0 {
            loop.run()
            let now = loop.connections.values.first?.received ?? 0
            #expect(now - received <= 65)
            received = now
        }
        daemon.end()
    }

    @Test func `a handshake takes no time of a loop`() async throws {
        let daemon = try Self.daemon(TLSIdentity(SelfSigned(isRSA: true).tls)) { _ in .reply(.text("ok")) }
        let port = try daemon.listen()
        let loop = try #require(daemon.loops.first)
        func run(until isEnough: () -> Bool) async {
            while !isEnough() {
                loop.run()
                await Task.yield()
            }
        }
        let first = Task { try await TLSConnection.open(port) }
        await run { loop.connections.values.contains { $0.stage == .head } }
        let threads = try #require(daemon.handshakes)
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<threads.count { threads.add(of: NetworkAddress(nil)) { gate.wait() } }
        let late = (0..<12).map { _ in Task { try await TLSConnection.open(port) } }
        await run { loop.connections.values.count { $0.isShakingHands } == 12 }
        let isAnswered = Locked(false)
        let reply = Task {
            defer { isAnswered.withLock { $0 = true } }
            return try await first.value.ask(Self.request, until: "ok")
        }
        await run { isAnswered.withLock { $0 } }
        #expect(try await reply.value.hasPrefix("HTTP/1.1 200"))
        #expect(loop.connections.values.count { $0.stage == .handshake } == 12)
        for _ in 0..<threads.count { gate.signal() }
        await run { loop.connections.values.allSatisfy { $0.stage == .head } }
        for client in late { _ = try await client.value }
        daemon.end()
    }

    @Test func `addresses take turns at handshakes`() async throws {
        let (threads, gate, order) = (HandshakeThreads(1), DispatchSemaphore(value: 0), Locked<[Int]>([]))
        threads.add(of: NetworkAddress(nil)) { gate.wait() }
        let crowd = try #require(SocketAddress("127.0.0.1", port: 0)).withPointer { NetworkAddress($0) }
        let honest = try #require(SocketAddress("127.0.0.2", port: 0)).withPointer { NetworkAddress($0) }
        for number in 0..<20 { threads.add(of: crowd) { order.withLock { $0.append(number) } } }
        threads.add(of: honest) { order.withLock { $0.append(100) } }
        gate.signal()
        try await until { order.withLock { $0.count } == 21 }
        #expect(order.withLock { $0.prefix(2).contains(100) })
        threads.end()
    }

    @Test func `a pool has a loop for every two threads`() async throws {
        for (threads, loops) in [(1, 1), (2, 1), (3, 1), (5, 2), (8, 4)] {
            let work = SomeThreads(threads: threads)
            let daemon = try Daemon(
                .patient, identity: nil, time: SystemTimekeeper(), startTask: { Task(operation: $0) }, work: work,
                complete: { response, _ in response }, begin: { _ in .reply(.text("ok")) })
            let port = try daemon.start()
            #expect(daemon.loops.count == loops)
            for _ in 0..<20 { #expect(try await fetch(port, "/").status == 200) }
            try await until { work.joined.withLock { $0 } == threads }
            daemon.end()
        }
    }

    /// No work, for a number of threads.
    private struct SomeThreads: ThreadWork {
        let threads: Int
        let joined = Locked(0)
        func join() { joined.withLock { $0 += 1 } }
        func leave() {}
        func take() -> (@Sendable () -> Void)? { nil }
        func rest(_ alarm: ThreadAlarm) -> Bool { true }
        func rise(_ alarm: ThreadAlarm) {}
    }
}
