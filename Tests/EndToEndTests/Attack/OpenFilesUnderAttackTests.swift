import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import TLSPeer
import Testing

/// Runs `latchkey-server demo` with few open files, and strangers who take as many as they can on all three listeners.
/// `Scripts/attack SECONDS` runs it longer.
@Suite(.enabled(if: AttackedDemonstration.isThere), .timeLimit(.minutes(30)))
struct OpenFilesUnderAttackTests {
    private static let requests = [
        "GET /t/demo/certificate HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /t/demo/speke HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", AttackedDemonstration.livez,
    ]

    @Test(arguments: [128, 256, 1_024, 65_536], [false, true])
    func `strangers who take every descriptor neither end the server nor keep honest clients out`(
        _ limit: Int, _ isTLS: Bool
    ) async throws {
        // The tests' own limit: the server's limit is not higher.
        guard limit <= max(1_024, OpenFileLimit.raise()) else { return }
        let folder = try TemporaryFolder()
        let server = try await AttackedDemonstration(limit, in: folder, isTLS: isTLS)
        let (process, ports) = (server.process, server.ports)
        #expect(ports.count == 3)
        let seen = await Self.attack(ports, isTLS, most: min(3 * limit, OpenFileLimit.current / 2), on: process)
        #expect(seen.answers > 0 && seen.failures == 0, "\(seen.replies)")
        // An idle connection costs some KiB, one with TLS some 30.
        #expect(seen.memory < 1 << 30)
        #expect(await process.end(by: SIGTERM) == 0)
        AttackTime.report(
            "\(limit) descriptors\(isTLS ? ", TLS" : ""): \(seen.answers) honest requests answered, \(seen.failures) not, "
                + "slowest \(seen.slowest) s, memory \(seen.memory >> 20) MiB")
    }

    @Test(arguments: [32, 64]) func `a server that cannot serve any client does not start`(_ limit: Int)
        async throws
    {
        let folder = try TemporaryFolder()
        let process = try await AttackedDemonstration.start(limit, folder)
        #expect(throws: (any Error).self) { try AttackedDemonstration.ports(of: process) }
        // It has ended on its own, with an exit status: a signal would be 128 and more.
        #expect((1..<128).contains(await process.end(by: 0)))
    }

    private struct Tally: Sendable {
        var answers = 0
        var failures = 0
        var replies: [String] = []
        var slowest = 0.0
        var memory = 0
    }

    /// Idle strangers, strangers with pipelined requests that they do not read, and honest clients of each listener.
    private static func attack(
        _ ports: [UInt16], _ isTLS: Bool, most: Int, on process: ServingProcess
    ) async -> Tally {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                var seen = Tally()
                var crowd: [AttackSocket] = []
                for _ in 0..<AttackTime.rounds * 4 {
                    let end = AttackTime.seconds.map { ContinuousClock.now + .seconds($0 / 200) } ?? .now
                    repeat {
                        for (port, request) in zip(ports, requests) { join(&crowd, port, request) }
                        if crowd.count > most { crowd.removeFirst(crowd.count / 3) }
                        for (port, request) in zip(ports, requests) {
                            let start = ContinuousClock.now
                            let status = ask(port, request, isTLS)
                            seen.slowest = max(seen.slowest, start.duration(to: .now).inSeconds)
                            if let status, [200, 401].contains(status) {
                                seen.answers += 1
                            } else {
                                seen.failures += 1
                                seen.replies.append("\(request.prefix(24)): \(status.map(String.init) ?? "none")")
                            }
                        }
                    } while ContinuousClock.now < end
                    seen.memory = max(seen.memory, process.residentBytes ?? .max)
                }
                withExtendedLifetime(crowd) {}
                done.resume(returning: seen)
            }
        }
    }

    private static func join(_ crowd: inout [AttackSocket], _ port: UInt16, _ request: String) {
        for number in 0..<40 {
            guard let one = AttackSocket(port: port, from: "127.0.0.1", patience: 1) else { continue }
            if number % 4 == 0 { one.send(String(repeating: request, count: 20)) }
            crowd.append(one)
        }
    }

    private static func ask(_ port: UInt16, _ request: String, _ isTLS: Bool) -> Int? {
        if isTLS { return (try? TLSConnection.status(of: request, port: port, from: "127.0.1.2")) ?? nil }
        guard let one = AttackSocket(port: port, from: "127.0.1.2", patience: 30) else { return nil }
        one.send(request)
        return one.status()
    }
}
