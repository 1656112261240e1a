import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A stream in clear needs no key, no vendor and no device; a stream that only seems clear is reported.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(5)))
struct ClearStreamTests {
    private func withoutKeys(_ name: String, _ text: String) -> String {
        text.split(separator: "\n").filter { !$0.contains("KEY:") }.joined(separator: "\n") + "\n"
    }

    private func clearStage(_ live: LiveServices) async throws -> DoctorStage {
        let stage = try DoctorStage(live, .vuDRM, .transportStream)
        let clear = try await stage.clearSegment()
        try stage.rewritePlaylists { withoutKeys($0, $1) }
        for name in ["v/1.ts", "v/2.ts", "v/3.ts"] { try stage.rewriteMedia(name) { _ in clear } }
        return stage
    }

    @Test func `doctor checks a clear stream's media and requests no key`() async throws {
        try await LiveServices.with { live in
            let stage = try await clearStage(live)
            let asked = stage.service.requests(at: .license).count
            stage.settings = [:]
            let found = try await stage.diagnose()
            #expect(found.status == 0 && found.codes.isEmpty && !found.sentSecrets, "\(found.text)")
            #expect(found.checks.map { $0["step"] } == ["playlist", "media"])
            #expect(stage.service.requests(at: .license).count == asked)
            let words = try await ToolProcess.run("doctor", stage.playlist, "--vendor", "vudrm").output
            #expect(words.hasPrefix("Nothing is wrong: the stream is in clear, and needs no key."), "\(words)")
        }
    }

    @Test(arguments: [("v/1.ts", Data?.none), ("v/1.ts", Data("<html>403</html>".utf8))])
    func `a clear stream with an unreadable segment is an error`(_ name: String, _ bytes: Data?)
        async throws
    {
        try await LiveServices.with { live in
            let stage = try await clearStage(live)
            try stage.rewriteMedia(name) { _ in bytes }
            let found = try await stage.diagnose()
            #expect(found.status == 1 && found.cause == "segmentUnreadable", "\(found.text)")
        }
    }

    @Test(arguments: DemoAsset.allCases)
    func `encrypted media without a tag does not pass as clear`(_ asset: DemoAsset) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, asset)
            try stage.rewritePlaylists { withoutKeys($0, $1) }
            let found = try await stage.diagnose()
            #expect(found.status == 1 && found.cause == "noFairPlayKey" && !found.sentSecrets, "\(found.text)")
            #expect(found.text.contains("its media is encrypted"))
            let played = try await ToolProcess.run("play", stage.playlist)
            #expect(played.status == 1 && played.output.contains("WRONG"), "\(played.output)\(played.error)")
        }
    }

    @Test func `play plays a clear stream without vendor and credentials`() async throws {
        try await LiveServices.with { live in
            let stage = try await clearStage(live)
            let run = try await ToolProcess.run("play", stage.playlist)
            #expect(run.status == 0 && run.error == "", "\(run.error)")
            #expect(run.output.contains("frames decoded  right") && !run.output.contains("WRONG"), "\(run.output)")
            #expect(run.output.contains("The stream is in clear, and needs no key.\n"), "\(run.output)")
            let json = try await ToolProcess.run(
                "play", stage.playlist, "--json", "--frame", stage.folder.path("p.png"))
            #expect(json.json?["right"] as? Bool == true && json.json?["vendor"] == nil)
            #expect(stage.folder.contents("p.png") != nil)
            try stage.rewriteMedia("v/2.ts") { _ in nil }
            #expect(try await ToolProcess.run("play", stage.playlist).status == 1)
        }
    }

    @Test func `play requires a vendor for streams with keys, and without keys if options need one`() async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .transportStream)
            let run = try await ToolProcess.run("play", stage.playlist)
            #expect(
                run.status == 2 && run.error.contains("--vendor") && run.error.contains("--credentials"), "\(run.error)"
            )
            let offline = try await ToolProcess.run("play", stage.playlist, "--offline")
            #expect(offline.status == 2 && offline.error.contains("--offline goes with --vendor"))
        }
    }
}
