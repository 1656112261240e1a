import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

/// The output of `latchkey serve`, run like a user runs it.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct ServeToolTests {
    @Test func `every line that serve prints plays unchanged`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("credentials"))
        let serve = try await ServeProcess("--credentials", folder.path("credentials"))
        #expect(serve.sheet.services.count > 20)
        for service in serve.sheet.services {
            let line = try #require(service.play)
            #expect(line.hasPrefix("latchkey play "))
            let run = try await ToolProcess.run(
                program: "/bin/sh",
                ["-c", line.replacing("latchkey ", with: "\"$0\" ", maxReplacements: 1), ToolProcess.path ?? ""])
            #expect(run.status == 0, "\(service.service): \(run.output) \(run.error)")
        }
        #expect(await serve.end(by: SIGTERM) == 128 + SIGTERM)
    }

    @Test func `a fault, a lease and a short-lived token are as set`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let serve = try await ServeProcess(
            "--credentials", folder.path("c"), "--lease", "600", "--fault", "azure/license=refusal:TooMany:429",
            "--fault", "vudrm/certificate=status:503*1")
        func play(_ service: String) async throws -> ToolProcess.Outcome {
            try await ToolProcess.run(
                ["play", "\(serve.address)/media/\(service)/ts/master.m3u8", "--vendor", service, "--json"]
                    + serve.settings(of: service) + ["--credentials", folder.path("c"), "--loopback-http"])
        }
        let refused = try await play("azure")
        #expect(refused.status == 1)
        let leased = try await play("vudrm")
        #expect(leased.status == 0)
        #expect(leased.output.contains("600"))
        #expect(serve.process.log.contains("refused, request "))
        #expect(serve.process.log.contains("/vudrm/certificate/demo-client → 503"))
        _ = await serve.end(by: SIGTERM)
    }

    @Test func `serve listens at the given address, and its tokens last as long as requested`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let serve = try await ServeProcess(
            "--credentials", folder.path("c"), "--host", "127.0.0.2", "--token-lifetime", "77")
        #expect(serve.address.hasPrefix("http://127.0.0.2:"))
        let text = try #require(Data(base64Encoded: try await serve.token(of: "keyos")))
        let times = String(decoding: text, as: UTF8.self).matches(of: /Time>([0-9-]+) ([0-9:]+)\.000</)
        let dates = try times.map { try Date("\($0.output.1)T\($0.output.2)Z", strategy: .iso8601) }
        #expect(dates.count == 2)
        let (begin, end) = (try #require(dates.first), try #require(dates.last))
        #expect(end.timeIntervalSince(begin) == 77)
        _ = await serve.end(by: SIGTERM)
    }

    @Test(arguments: [["--fault", "nobody/license=reset"], ["--fault", "license=explode"], ["--lease", "0"]])
    func `an invalid option is wrong usage`(_ words: [String]) async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let run = try await ToolProcess.run(["serve", "--credentials", folder.path("c")] + words)
        #expect(run.status == 2)
        #expect(run.output == "")
    }
}
