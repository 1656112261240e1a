import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A signal leaves nothing behind. Real processes and real signals.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct InterruptionTests {
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal removes content keys from disk, ends the decoders, and is the exit status`(
        _ signal: Int32
    ) async throws {
        try await LiveServices.with { live in
            let credentials = try TemporaryFolder()
            try LiveServices.writeCredentials(to: credentials.file("c"))
            let profile = live.configured(.vuDRM)
            let settings = profile.settings.merging(["token": live.tokens(for: profile)]) { $1 }
            let run = try InterruptedProcess(
                ["play", live.playlist(.twoKeys, for: profile), "--vendor", profile.identifier]
                    + settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
                    + ["--credentials", credentials.path("c"), "--loopback-http"])
            // One for video, one for audio.
            await run.untilDecodersRun(2)
            #expect(run.temporaryFiles.contains { $0.path.hasSuffix(".key.bin") })
            #expect(run.temporaryFiles.allSatisfy { $0.mode & 0o077 == 0 }, "\(run.temporaryFiles)")

            let end = await run.end(by: signal)
            #expect(end.status == 128 + signal && end.reason == .exit)
            #expect(run.temporaryFiles.isEmpty)
            #expect(run.survivors.isEmpty)
        }
    }

    @Test func `the demo's players leave nothing behind either`() async throws {
        let folder = try TemporaryFolder()
        let run = try InterruptedProcess(["demo", "--out", folder.path("demo")])
        await run.untilDecodersRun(1)
        #expect(!run.temporaryFiles.isEmpty)
        let end = await run.end(by: SIGTERM)
        #expect(end.status == 128 + SIGTERM && end.reason == .exit)
        #expect(run.temporaryFiles.isEmpty)
        #expect(run.survivors.isEmpty)
    }

    @Test func `a hang-up that nohup blocks ends nothing`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let serve = try await ServeProcess(
            ignoring: "HUP", "--credentials", folder.path("c"), "--content", DemoAsset.folder.path)
        serve.process.send(SIGHUP)
        #expect(await serve.end(by: SIGTERM) == 128 + SIGTERM)
    }

    @Test func `a reader that ends early, such as head, leaves nothing of a playing stream`() async throws {
        try await LiveServices.with { live in
            let folder = try TemporaryFolder()
            try LiveServices.writeCredentials(to: folder.file("c"))
            try FileManager.default.createDirectory(at: folder.file("temporary"), withIntermediateDirectories: true)
            let profile = live.configured(.vuDRM)
            let words =
                ["play", live.playlist(.transportStream, for: profile), "--vendor", profile.identifier]
                + profile.settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
                + ["--set", "token=\(live.service(for: profile).issueToken().revealedText)"]
                + ["--credentials", folder.path("c"), "--loopback-http"]
            let script = "\"$0\" \"$@\" | head -1"
            let run = try await ToolProcess.run(
                program: "/bin/sh", ["-c", script, ToolProcess.path ?? ""] + words,
                environment: ["TMPDIR": folder.path("temporary")])
            #expect(run.status == 0 && run.error == "", "\(run)")
            #expect(run.output.count { $0 == "\n" } == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("temporary")).isEmpty)
        }
    }
}
