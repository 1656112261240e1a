import Foundation
import LatchkeyTerminal
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServerTool
@testable import TestServers

#if canImport(Glibc)
    import Glibc
    @testable import LatchkeyLicensing
    @testable import LatchkeyServer
#endif

/// A server's life by a clock that the test moves: signals, the drain, systemd's watchdog, and background work.
@Suite(.timeLimit(.minutes(2))) struct ServerLifeTests {
    /// A server that serves until its signals stop it.
    private final class Life: Sendable {
        let stage: TestServer
        let time: ManualTimekeeper
        private let handler = Promise<@Sendable (Int32) -> Bool, Never>()
        private let end = Promise<Void, Never>()

        init(drainDelay: String = "0s", notifier: ServiceNotifier? = nil) async throws {
            let time = ManualTimekeeper(date: Date())
            self.time = time
            stage = try await TestServer(drainDelay == "0s" ? [:] : ["drainDelay": .text(drainDelay)], time: time)
            let (server, handler, end) = (stage.server, handler, end)
            Task {
                await server.serve(
                    notifier: notifier, signals: { handler.resolve(.success($0)) }, ready: {})
                end.resolve(.success(()))
            }
        }

        /// Sends a signal, once the server handles signals.
        func signal(_ number: Int32) async { _ = await handler.value()(number) }

        /// How the server ended.
        func ended() async { await end.value() }

        func ready() async throws -> Int {
            try await stage.operators("readyz").status
        }
    }

    @Test func `a signal takes the node out of service, and it stops after the delay`() async throws {
        let life = try await Life(drainDelay: "7s")
        #expect(try await life.ready() == 200)
        await life.signal(SIGTERM)
        await life.time.untilSomeoneSleeps(for: .seconds(7))
        #expect(try await life.ready() == 503)
        // It reports that it is not ready, still issues licenses, and sends clients elsewhere for the next request.
        let license = try await life.stage.license().0
        #expect(license.status == 200 && license.header("Connection") == "close")
        life.time.advance(by: .seconds(7))
        await life.ended()
        await #expect(throws: (any Error).self) { try await life.ready() }
        let log = await life.stage.log
        let told = ["accepts requests.", "is shutting down.", "no longer accepts requests."].map { "The server \($0)" }
        #expect(log.matches(of: /The server [a-z ]+\./).map { String($0.output) } == told, "\(log)")
    }

    @Test func `a second signal skips the delay`() async throws {
        let life = try await Life(drainDelay: "100s")
        await life.signal(SIGINT)
        await life.time.untilSomeoneSleeps(for: .seconds(100))
        await life.signal(SIGINT)
        await life.ended()
        await life.stage.server.stop(within: .zero)
    }

    @Test func `a hang-up reloads the configuration, and the node keeps running`() async throws {
        let life = try await Life()
        try life.stage.folder.edit(["tenants.demo.clearKey": false])
        await life.signal(SIGHUP)
        while life.stage.server.current.settings.tenants["demo"]?.allowsClearKey != false {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try await life.ready() == 200)
        await life.signal(SIGTERM)
        await life.ended()
    }

    @Test func `a running node sees a changed file at its next look`() async throws {
        let life = try await Life()
        // Each look may be the first one, which counts everything found as known.
        var delay = 0
        while life.stage.server.current.settings.drainDelay == .zero {
            try Task.checkCancellation()
            delay = delay % 300 + 1
            try life.stage.folder.edit(["drainDelay": "\(delay)s"])
            await life.time.untilSomeoneSleeps(for: .seconds(1))
            life.time.advance(by: .seconds(1))
        }
        await life.signal(SIGTERM)
        await life.ended()
    }

    @Test func `a pool that is full for half a minute makes the node unready`() async throws {
        let stage = try await TestServer(time: ManualTimekeeper(date: Date()))
        let time = try #require(stage.time as? ManualTimekeeper)
        let path = "readyz?verbose"
        stage.server.shared.saturation.note(isFull: true)
        time.advance(by: .seconds(29))
        #expect(try await stage.operators(path).status == 200)
        time.advance(by: .seconds(2))
        let reply = try await stage.operators(path)
        #expect(reply.status == 503 && reply.text.contains("pool"))
        stage.server.shared.saturation.note(isFull: false)
        #expect(try await stage.operators(path).status == 200)
    }

    #if os(Linux)
        @Test func `systemd is notified of start, reload, stop and each half of the watchdog's time`()
            async throws
        {
            let path = "@latchkey-life-\(UUID().uuidString)"
            let socket = try DatagramSocket(path)
            let notifier = ServiceNotifier(
                environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "\(getpid())"])
            let life = try await Life(notifier: notifier)
            #expect(try await socket.next() == "READY=1")
            await life.time.untilSomeoneSleeps(for: .seconds(10))
            life.time.advance(by: .seconds(9))
            life.time.advance(by: .seconds(1))
            #expect(try await socket.next() == "WATCHDOG=1")
            await life.signal(SIGHUP)
            #expect(try await socket.next().hasPrefix("RELOADING=1"))
            #expect(try await socket.next() == "READY=1")
            await life.signal(SIGTERM)
            #expect(try await socket.next() == "STOPPING=1")
            await life.ended()
        }
    #endif
}

extension Promise where Failure == Never {
    fileprivate func value() async -> Value {
        await withCheckedContinuation { waiter in whenResolved { waiter.resume(with: $0) } }
    }
}

#if os(Linux)
    /// A datagram socket like systemd's, with an abstract name.
    private final class DatagramSocket: Sendable {
        private let socket: Int32

        init(_ path: String) throws {
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let name = [0] + Array(path.utf8.dropFirst())
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = socklen_t(2 + name.count)
            let isBound = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
            }
            try #require(isBound == 0)
        }

        deinit { close(socket) }

        /// The next datagram.
        func next() async throws -> String {
            while true {
                var bytes = [UInt8](repeating: 0, count: 500)
                let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                if count >= 0 { return String(decoding: bytes.prefix(count), as: UTF8.self) }
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }
#endif
