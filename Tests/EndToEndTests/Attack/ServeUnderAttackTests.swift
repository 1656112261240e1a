import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeySimulation
import LatchkeyTesting
import Testing

/// Runs `latchkey serve` with attackers and honest clients for some rounds each. `Scripts/attack SECONDS` runs it longer.
@Suite(.enabled(if: ToolProcess.isThere, Comment(rawValue: ToolProcess.whyNot)), .timeLimit(.minutes(30)))
struct ServeUnderAttackTests {
    @Test func `honest clients are answered, and the server neither grows nor ends`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        // The same requests come again and again.
        let serve = try await ServeProcess(
            "--credentials", folder.path("c"), "--content", DemoAsset.folder.path, "--lenient", "vudrm/tokenOnce",
            "--lenient", "vudrm/tokenAge")
        let port = try #require(serve.address.split(separator: ":").last.flatMap { UInt16($0) })
        let requests = try Self.honestRequests(try await serve.token(of: "vudrm"), credentials: folder.file("c"))
        let run = AttackRun(.services(port: port), honest: requests.map { .init(port: port, bytes: $0) })
        let seen = await run.run(on: serve.process)
        #expect(seen.failures == [])
        #expect(seen.levelsOff(), "\(seen.memory)")
        #expect(await serve.end(by: SIGTERM) == 128 + SIGTERM)
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
}
