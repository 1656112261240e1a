import Foundation
import LatchkeyCore
import LatchkeyTesting
import TLSPeer
import Testing

/// Runs `latchkey-server demo` with few open files, and strangers who take as many as they can on all three listeners.
/// `Scripts/attack SECONDS` runs it longer.
@Suite(
    .enabled(if: AttackTime.program("latchkey-server") != nil && OpenFilesUnderAttackTests.hasLimiter),
    .timeLimit(.minutes(30)))
struct OpenFilesUnderAttackTests {
    private struct Sheet: Decodable {
        let fairplay, speke, metrics: String

        var ports: [UInt16] {
            [fairplay, speke, metrics].compactMap { URL(string: $0)?.port.flatMap { UInt16(exactly: $0) } }
        }
    }

    private static let limiter = "/usr/bin/prlimit"
    fileprivate static let hasLimiter = FileManager.default.isExecutableFile(atPath: limiter)

    private static let requests = [
        "GET /t/demo/certificate HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /t/demo/speke HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    ]

    private static func start(_ limit: Int, _ folder: TemporaryFolder) async throws -> ServingProcess {
        // The hard limit too: the server cannot raise it.
        try await ServingProcess(
            program: limiter,
            [
                "--nofile=\(limit):\(limit)", AttackTime.program("latchkey-server") ?? "", "demo", "--json", "--port",
                "0",
                "--folder", folder.path("demo"),
            ])
    }

    @Test(arguments: [128, 256, 1_024, 65_536])
    func `strangers who take every descriptor neither end the server nor keep honest clients out`(_ limit: Int)
        async throws
    {
        guard limit <= OpenFileLimit.current || limit <= 1_024 else { return }
        let folder = try TemporaryFolder()
        let process = try await Self.start(limit, folder)
        let ports = try JSONDecoder().decode(Sheet.self, from: process.line).ports
        #expect(ports.count == 3)
        let seen = await Self.attack(ports, most: min(3 * limit, OpenFileLimit.current / 2))
        #expect(seen.answers > 0 && seen.failures == 0)
        #expect(await process.end(by: SIGTERM) == 0)
        AttackTime.report("\(limit) descriptors: \(seen.answers) honest requests answered, \(seen.failures) not")
    }

    @Test(arguments: [32, 64]) func `a server that can serve nobody says so and does not start`(_ limit: Int)
        async throws
    {
        let folder = try TemporaryFolder()
        let process = try await Self.start(limit, folder)
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Sheet.self, from: process.line) }
        // It has ended by itself, and with an exit status: a signal would be 128 and more.
        #expect((1..<128).contains(await process.end(by: 0)))
    }

    /// Idle strangers, strangers with pipelined requests that they do not read, and honest clients of each listener.
    private static func attack(_ ports: [UInt16], most: Int) async -> (answers: Int, failures: Int) {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                var (answers, failures) = (0, 0)
                var crowd: [AttackSocket] = []
                for _ in 0..<AttackTime.rounds * 4 {
                    let end = AttackTime.seconds.map { ContinuousClock.now + .seconds($0 / 60) } ?? .now
                    repeat {
                        for (port, request) in zip(ports, requests) {
                            for number in 0..<40 {
                                guard let one = AttackSocket(port: port, from: "127.0.0.1", patience: 1) else {
                                    continue
                                }
                                if number % 4 == 0 { one.send(String(repeating: request, count: 20)) }
                                crowd.append(one)
                            }
                        }
                        if crowd.count > most { crowd.removeFirst(crowd.count / 3) }
                        for (port, request) in zip(ports, requests) {
                            let status = ask(port, request) ?? ask(port, request)
                            if [200, 401].contains(status) { answers += 1 } else { failures += 1 }
                        }
                    } while ContinuousClock.now < end
                }
                withExtendedLifetime(crowd) {}
                done.resume(returning: (answers, failures))
            }
        }
    }

    private static func ask(_ port: UInt16, _ request: String) -> Int? {
        guard let one = AttackSocket(port: port, from: "127.0.1.2", patience: 30) else { return nil }
        one.send(request)
        return one.status()
    }
}
