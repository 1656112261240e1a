import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyTesting
import Testing

/// Runs `latchkey-server demo` with attackers of all three listeners, some of them with stolen keys, and honest clients.
/// `Scripts/attack SECONDS` runs it longer.
@Suite(
    .enabled(if: AttackTime.program("latchkey-server") != nil, Comment(rawValue: ToolProcess.whyNot)),
    .timeLimit(.minutes(30)))
struct LicenseServerUnderAttackTests {
    /// The parts of the server's `--json` output that tests use.
    private struct Sheet: Decodable {
        let fairplay, certificate, speke, metrics, token, packagerToken, credentials: String

        func port(_ address: String) throws -> UInt16 {
            try #require(URL(string: address)?.port.flatMap { UInt16(exactly: $0) })
        }
    }

    @Test func `honest clients are answered, the server neither grows nor ends, and its log shows no secret`()
        async throws
    {
        let folder = try TemporaryFolder()
        let process = try await ServingProcess(
            program: AttackTime.program("latchkey-server") ?? "",
            ["demo", "--json", "--port", "0", "--folder", folder.path("demo")])
        let sheet = try JSONDecoder().decode(Sheet.self, from: process.line)
        let ports = try (sheet.port(sheet.fairplay), sheet.port(sheet.speke), sheet.port(sheet.metrics))
        let adminKey = try String(contentsOfFile: folder.path("demo/admin-key.txt"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let surface = AttackSurface.licenseServer(ports, packagerKey: sheet.packagerToken, adminKey: adminKey)
        let seen = await AttackRun(surface, honest: try Self.honestRequests(sheet)).run(on: process)
        // A busy machine sheds a few, and says when to try again.
        #expect(seen.failures.allSatisfy { $0 == 503 })
        #expect(seen.failures.count * 10 <= seen.answers)
        #expect(seen.levelsOff(), "\(seen.memory)")
        #expect(await process.end(by: SIGTERM) == 0)
        let log = process.log
        for secret in [sheet.token, sheet.packagerToken, adminKey] { #expect(!log.contains(secret)) }
        #expect(log.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    }

    /// The requests for a certificate, a license, a packager's heartbeat, and the metrics.
    private static func honestRequests(_ sheet: Sheet) throws -> [AttackRun.Honest] {
        let device = try SimulatedDevice(directory: URL(filePath: sheet.credentials))
        var generator = SeededGenerator(seed: 1)
        let identifier = ContentIdentifier("skd://movie/a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f")
        let spc = try device.exchange(for: identifier, using: &generator).spc.revealed
        let license = """
            POST /t/demo/fairplay HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(sheet.token)\r\n\
            X-Request-Id: honest-license\r\nContent-Length: \(spc.count)\r\n\r\n
            """
        let heartbeat = "GET /t/demo/speke/heartbeat HTTP/1.1\r\nHost: a\r\nX-API-Key: \(sheet.packagerToken)\r\n\r\n"
        let players = try sheet.port(sheet.fairplay)
        return [
            .init(port: players, bytes: Data("GET /t/demo/certificate HTTP/1.1\r\nHost: a\r\n\r\n".utf8)),
            .init(port: players, bytes: Data(license.utf8) + spc),
            .init(port: try sheet.port(sheet.speke), bytes: Data(heartbeat.utf8)),
            .init(port: try sheet.port(sheet.metrics), bytes: Data("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".utf8)),
        ]
    }
}
