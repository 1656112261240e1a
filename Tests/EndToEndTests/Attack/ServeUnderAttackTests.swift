import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeySimulation
import LatchkeyTesting
import Testing

/// Runs `latchkey serve` with attackers and honest clients for some rounds each. `Scripts/attack SECONDS` runs it longer.
@Suite(.enabled(if: ToolProcess.isThere, Comment(rawValue: ToolProcess.whyNot)), .timeLimit(.minutes(30)))
struct ServeUnderAttackTests {
    /// The results of the honest clients.
    private struct Tally: Sendable {
        var answers = 0
        var failures = 0
        var slowest = 0.0
        var attacks = 0
    }

    /// The attacks of an attacker, and the requests of an honest client, before and again after the memory is first measured.
    private static let rounds = 40

    @Test func `honest clients are answered, and the server neither grows nor ends`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let serve = try await ServeProcess("--credentials", folder.path("c"), "--content", DemoAsset.folder.path)
        let port = try #require(serve.address.split(separator: ":").last.flatMap { UInt16($0) })
        let requests = try Self.honestRequests(try await serve.token(of: "vudrm"), credentials: folder.file("c"))
        // One request in advance, so that the memory of a first request does not count as growth.
        for request in requests { _ = Self.status(of: request, port, from: "127.0.0.1") }
        let tally = Locked(Tally())
        let end = AttackTime.end()
        let first = await Self.run(port, requests, until: AttackTime.end(share: 0.2), tally)
        let early = try Self.residentBytes(of: serve.identifier)
        let second = await Self.run(port, requests, until: end, tally)
        try #require(first && second)
        let late = try Self.residentBytes(of: serve.identifier)
        let seen = tally.withLock { $0 }
        AttackTime.report(
            "serve: \(seen.attacks) attacks; honest: \(seen.answers) answered, \(seen.failures) not, slowest \(seen.slowest) s; "
                + "memory: \(early >> 20) MiB, then \(late >> 20) MiB")
        #expect(seen.failures == 0)
        #expect(late < early + 64 << 20)
        #expect(await serve.end(by: SIGTERM) == 128 + SIGTERM)
    }

    /// Four attackers and two honest clients, each on its own thread. One honest client has the attackers' address, the other has
    /// its own. An honest client retries once if its connection ends without a reply.
    private static func run(
        _ port: UInt16, _ requests: [Data], until end: ContinuousClock.Instant, _ tally: Locked<Tally>
    ) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for seed in 0..<4 as Range<UInt64> {
                group.addTask {
                    await onThread {
                        var mix = AttackMix(port: port, seed: seed)
                        var turn = 0
                        while turn < rounds || ContinuousClock.now < end {
                            turn += 1
                            mix.next()
                            tally.withLock { $0.attacks += 1 }
                        }
                    }
                }
            }
            for source in ["127.0.0.1", "127.0.0.2"] {
                group.addTask {
                    await onThread {
                        var turn = 0
                        while turn < rounds || ContinuousClock.now < end {
                            turn += 1
                            let start = ContinuousClock.now
                            let request = requests[turn % requests.count]
                            // Our own client retries, too: the server may have no place left at the moment of connecting.
                            let status =
                                status(of: request, port, from: source) ?? status(of: request, port, from: source)
                            let time = start.duration(to: .now).inSeconds
                            tally.withLock { tally in
                                if status == 200 { tally.answers += 1 } else { tally.failures += 1 }
                                tally.slowest = max(tally.slowest, time)
                            }
                        }
                    }
                }
            }
            return await group.allSatisfy { $0 }
        }
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) async -> Bool {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                body()
                done.resume(returning: true)
            }
        }
    }

    private static func status(of request: Data, _ port: UInt16, from source: String) -> Int? {
        guard let socket = AttackSocket(port: port, from: source, patience: 20) else { return nil }
        socket.send(request)
        return socket.status()
    }

    /// The requests of a client for a certificate, a playlist and a license.
    private static func honestRequests(_ token: String, credentials: URL) throws -> [Data] {
        let device = try SimulatedDevice(directory: credentials)
        var generator = SeededGenerator(seed: 1)
        let spc = try device.exchange(for: ContentIdentifier("video"), using: &generator).spc.revealed
        let license = """
            POST /vudrm/license/video HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\n\
            x-vudrm-token: \(token)\r\nContent-Length: \(spc.count)\r\n\r\n
            """
        return [
            Data("GET /vudrm/certificate/demo-client HTTP/1.1\r\nHost: a\r\n\r\n".utf8),
            Data("GET /media/vudrm/ts/master.m3u8 HTTP/1.1\r\nHost: a\r\n\r\n".utf8), Data(license.utf8) + spc,
        ]
    }

    /// The resident memory of a process.
    private static func residentBytes(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.split { !$0.isNumber }.first ?? "")) << 10
    }
}
