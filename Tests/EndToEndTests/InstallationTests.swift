import Foundation
import LatchkeyTesting
import Testing

/// Runs the tool outside the folder where it was built.
@Suite(.enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(2)))
struct InstallationTests {
    private let folder: TemporaryFolder
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Scripts/install").standardizedFileURL.path

    init() throws { folder = try TemporaryFolder() }

    private func install(_ arguments: String...) async throws -> ToolProcess.Outcome {
        try await ToolProcess.run(program: "/bin/sh", [Self.script] + arguments)
    }

    private var buildFolder: String { URL(filePath: ToolProcess.path ?? "").deletingLastPathComponent().path }

    @Test func `a copy without its demo streams says so, with a remedy`() async throws {
        try FileManager.default.copyItem(atPath: ToolProcess.path ?? "", toPath: folder.path("latchkey"))
        let run = try await ToolProcess.run(
            program: folder.path("latchkey"), ["demo", "--out", folder.path("demo")])
        #expect(run.status == 1)
        #expect(run.messageCode == "demoAssetMissing")
        #expect(run.error.contains("make install"))
    }

    @Test func `an installation works, even through a link, and uninstalls completely`() async throws {
        #expect(try await install(buildFolder, folder.path("prefix")).status == 0)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path("prefix"))
        for file in [
            "share/man/man1/latchkey.1", "share/bash-completion/completions/latchkey",
            "share/zsh/site-functions/_latchkey", "share/fish/vendor_completions.d/latchkey.fish",
            "share/latchkey/DemoAsset/keys.json", "bin/latchkey-server", "share/man/man1/latchkey-server.1",
            "share/bash-completion/completions/latchkey-server", "share/zsh/site-functions/_latchkey-server",
            "share/fish/vendor_completions.d/latchkey-server.fish",
        ] { #expect(files.contains(file)) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("prefix/bin/latchkey"))
        for program in ["prefix/bin/latchkey", "link"] {
            // The demo streams are found, but there is no ffmpeg.
            let run = try await ToolProcess.run(
                program: folder.path(program), ["demo", "--out", folder.path("demo")], environment: ["PATH": ""])
            #expect(run.messageCode == "toolMissing")
        }
        // Installs again, over the existing files.
        #expect(try await install(buildFolder, folder.path("prefix")).status == 0)
        #expect(try await install("--remove", folder.path("prefix")).status == 0)
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path("prefix"))
        #expect(left.filter { $0.contains("latchkey") } == [])
    }

    @Test func `a folder without a build gets a clear error`() async throws {
        let run = try await install(folder.url.path, folder.path("prefix"))
        #expect(run.status == 1 && run.error.contains("swift build --product latchkey"))
        #expect(try await install("--remove").status == 2)
    }
}
