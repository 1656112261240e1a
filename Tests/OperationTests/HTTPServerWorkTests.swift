import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An HTTP server whose threads also do the work of a pool.
@Suite(.timeLimit(.minutes(5))) struct HTTPServerWorkTests {
    @Test func `a request is answered on a thread that reads`() async throws {
        let pool = WorkerPool(threads: 2)
        let work = JoinedThreads(pool.work)
        let server = Self.server(pool, work) { _ in
            .task { .text(work.isHere ? "reads" : "works only") }
        }
        let client = Client(port: try server.start())
        // Until then, the pool's own threads work, too.
        while work.count < 2 { await Task.yield() }
        for _ in 0..<20 {
            let reply = try await client.get("/")
            #expect(reply == "reads")
        }
        await server.stop(within: .zero)
    }

    @Test func `a request that keeps its thread blocks no other`() async throws {
        let isOpen = DispatchSemaphore(value: 0)
        try await withServer(threads: 2) { request in
            if request.path == "/blocks" { isOpen.wait() }
            return .text(request.path)
        } _: { client in
            async let blocked = client.get("/blocks")
            try await client.checkEcho(of: (0..<50).map { "/\($0)" })
            isOpen.signal()
            let reply = try await blocked
            #expect(reply == "/blocks")
        }
    }

    @Test func `while every thread is kept, requests wait, and then all are answered`() async throws {
        let isOpen = DispatchSemaphore(value: 0)
        let kept = Locked(0)
        try await withServer(threads: 2) { request in
            if request.path == "/blocks" {
                kept.withLock { $0 += 1 }
                isOpen.wait()
            }
            return .text(request.path)
        } _: { client in
            async let first = client.get("/blocks")
            async let second = client.get("/blocks")
            while kept.withLock({ $0 }) < 2 { await Task.yield() }
            async let third = client.get("/third")
            isOpen.signal()
            isOpen.signal()
            let replies = try await [first, second, third]
            #expect(replies == ["/blocks", "/blocks", "/third"])
        }
    }

    /// libmicrohttpd may lose its own signal for a connection that is resumed while it polls for events.
    @Test func `another thread's answer is sent even if no other connection is active`() async throws {
        try await withServer(threads: 2) { request in
            await withCheckedContinuation { done in
                DispatchQueue.global().async { done.resume(returning: .text(request.path)) }
            }
        } _: { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask { try await client.checkEcho(of: (0..<250).map { "/\(task)/\($0)" }) }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `the pool's own threads survive a server stop`() async throws {
        let pool = WorkerPool(threads: 1)
        let work = JoinedThreads(pool.work)
        let server = Self.server(pool, work) { _ in
            .reply(.text("ok"))
        }
        for _ in 0..<3 {
            try server.start()
            let client = Client(port: try #require(server.port))
            #expect(try await client.status("/") == 200)
            #expect(await pool.run { work.isHere } == true)
            await server.stop(within: .zero)
            // A thread of the server may take a last piece.
            while await pool.run({ work.isHere }) == true { await Task.yield() }
        }
    }

    @Test func `work that hangs blocks neither the server's stop nor the pool`() async throws {
        let isOpen = DispatchSemaphore(value: 0)
        let isKept = Promise<Void, Never>()
        let pool = WorkerPool(threads: 2)
        let server = Self.server(pool, time: ManualTimekeeper()) { _ in
            .task {
                isKept.resolve(.success(()))
                isOpen.wait()
                return .text("late")
            }
        }
        #expect(try await Self.status(of: server, stoppedAfter: isKept) == 503)
        for number in 0..<100 { #expect(await pool.run { number } == number) }
        isOpen.signal()
    }

    @Test func `a stopping server sends 503 to waiting requests`() async throws {
        let pool = WorkerPool(threads: 2)
        let hasBegun = Promise<Void, Never>()
        let server = Self.server(pool, time: ManualTimekeeper()) { _ in
            .task {
                hasBegun.resolve(.success(()))
                // Until the task is cancelled.
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return .text("late")
            }
        }
        #expect(try await Self.status(of: server, stoppedAfter: hasBegun) == 503)
    }

    /// - Parameters:
    ///   - work: the other work of its threads; `nil` for the pool's.
    ///   - time: the clock of its stop; if it stands still, no unwritten reply is cut off.
    private static func server(
        _ pool: WorkerPool, _ work: (any ThreadWork)? = nil, time: any Timekeeper = SystemTimekeeper(),
        _ begin: @escaping @Sendable (HTTPRequest) -> HTTPWork
    ) -> HTTPServer {
        HTTPServer(
            HTTPServerConfiguration(), time: time, startTask: { pool.task($0) }, work: work ?? pool.work, begin: begin)
    }

    /// Sends a request to a server, and stops the server once the work on it has begun.
    private static func status(
        of server: HTTPServer, stoppedAfter hasBegun: Promise<Void, Never>
    ) async throws -> Int? {
        let client = Client(port: try server.start())
        async let reply = client.status("/")
        try await hasBegun.value
        await server.stop(within: .zero)
        return try await reply
    }

    private func withServer(
        threads: Int, answering handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
        _ body: (Client) async throws -> Void
    ) async throws {
        let pool = WorkerPool(threads: threads)
        let server = Self.server(pool) { request in .task { await handler(request) } }
        let port = try server.start()
        do {
            try await body(Client(port: port))
        } catch {
            await server.stop(within: .zero)
            throw error
        }
        await server.stop(within: .zero)
    }
}

/// Work that knows the threads that have joined it.
private final class JoinedThreads: ThreadWork {
    private let work: any ThreadWork
    private let joined = Locked<Set<pthread_t>>([])

    init(_ work: any ThreadWork) { self.work = work }

    /// Whether the calling thread has joined.
    var isHere: Bool { joined.withLock { $0.contains(pthread_self()) } }

    /// The number of threads that have joined.
    var count: Int { joined.withLock { $0.count } }

    var threads: Int { work.threads }

    func join() {
        work.join()
        joined.withLock { _ = $0.insert(pthread_self()) }
    }

    func leave() {
        work.leave()
        joined.withLock { _ = $0.remove(pthread_self()) }
    }

    func take() -> (@Sendable () -> Void)? { work.take() }
    func rest(_ alarm: ThreadAlarm) -> Bool { work.rest(alarm) }
    func rise(_ alarm: ThreadAlarm) { work.rise(alarm) }
}

private struct Client: Sendable {
    let port: UInt16
    private let session = URLSession(configuration: .ephemeral)

    init(port: UInt16) { self.port = port }

    func get(_ path: String) async throws -> String { String(decoding: try await load(path).0, as: UTF8.self) }

    /// Asks for one path after the other.
    func checkEcho(of paths: [String]) async throws {
        for path in paths {
            let reply = try await get(path)
            #expect(reply == path)
        }
    }

    func status(_ path: String) async throws -> Int? { (try await load(path).1 as? HTTPURLResponse)?.statusCode }

    private func load(_ path: String) async throws -> (Data, URLResponse) {
        try await session.data(from: #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
    }
}
