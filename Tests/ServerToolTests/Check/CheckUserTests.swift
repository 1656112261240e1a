import Foundation
import LatchkeySystem
import LatchkeyTerminal
import Testing

@testable import LatchkeyServerTool
@testable import TestServers

/// The check as another user, which a process can become only once: so in a separate process.
@Suite(.timeLimit(.minutes(2)))
struct CheckUserTests {
    /// The program next to the tests; `nil` if it was not built.
    private static let program: String? = {
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let file = folder.appending(path: "latchkey-server").path
            if FileManager.default.isExecutableFile(atPath: file) { return file }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    private func check(_ folder: ServerFolder, _ arguments: String...) throws -> (status: Int32, error: String) {
        let (process, pipe) = (Subprocess(), Pipe())
        process.executableURL = URL(filePath: Self.program ?? "")
        process.arguments = ["run", "--check", "--config", folder.configuration] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = pipe
        try process.run()
        let error = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, error)
    }

    @Test(
        .enabled(if: geteuid() == 0 && program != nil, "It needs root and the program."),
        arguments: ["nobody", "65532"])
    func `files are checked with the service user's rights`(_ user: String) async throws {
        let folder = try ServerFolder()
        try await folder.makeTenants()
        for path in [folder.root.path("."), folder.url.path] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        #expect(try check(folder).status == 0)
        let other = try check(folder, "--user", user)
        #expect(other.status == 1)
        for place in ["stores.sessions: ", "keyEncryptionKey: ", "nodeSecret: ", "licensee.credentials[0].key: "] {
            #expect(other.error.contains(place), "\(other.error)")
        }
        #expect(other.error.contains("Permission denied"))
        let unknown = try check(folder, "--user", "no-such-user")
        #expect(unknown.status == 1 && unknown.error.contains("userUnknown"))
    }

    @Test func `--user needs --check`() async throws {
        let run = await ToolRun("run", "--config", "server.json", "--user", "nobody")
        #expect(run.status == .usage && run.error.contains("--user needs --check."))
    }
}
