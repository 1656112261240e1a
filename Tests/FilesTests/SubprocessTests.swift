import Foundation
import LatchkeySystem
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct SubprocessTests {
    /// Runs a shell's command to its end.
    private static func shell(
        _ command: String, _ arguments: [String] = [], environment: [String: String]? = nil
    ) throws -> (output: String, process: Subprocess) {
        let (process, output) = (Subprocess(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command, "sh"] + arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process)
    }

    @Test func `it has its arguments, its environment and an empty standard input`() throws {
        let run = try Self.shell(
            #"cat; printf '%s|' "$@"; printf '%s' "$WORD""#, ["a b", ""], environment: ["WORD": "w"])
        #expect(run.output == "a b||w")
        #expect(run.process.terminationStatus == 0 && run.process.terminationReason == .exit)
        #expect(!run.process.isRunning)
    }

    @Test func `its status and its signal are distinct`() throws {
        let failed = try Self.shell("exit 9").process
        #expect(failed.terminationStatus == 9 && failed.terminationReason == .exit)
        let killed = try Self.shell("kill -9 $$").process
        #expect(killed.terminationStatus == 9 && killed.terminationReason == .uncaughtSignal)
    }

    @Test func `a signal reaches it, and its end comes once`() async throws {
        let process = Subprocess()
        process.executableURL = URL(filePath: "/bin/cat")
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        try process.run()
        #expect(process.isRunning)
        process.terminate()
        #expect(await ends.first { _ in true } == SIGTERM)
        process.terminate()
        #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)
    }

    @Test func `a missing program is an error`() {
        let process = Subprocess()
        process.executableURL = URL(filePath: "/nowhere")
        #expect(throws: POSIXError(.ENOENT)) { try process.run() }
        #expect(!process.isRunning)
    }

    #if os(Linux)
        @Test func `it inherits no file`() throws {
            let folder = try TemporaryFolder()
            let file = open(try folder.write("", to: "file"), O_RDONLY)
            defer { close(file) }
            let files = try Self.shell("ls /proc/self/fd").output.split(separator: "\n")
            // The last is the listing's own.
            #expect(files == ["0", "1", "2", "3"])
        }

        @Test func `1,600 open files do no harm, though Foundation may end this process`() throws {
            OpenFileLimit.raise()
            let files = (0..<1_600).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
            defer { for file in files where file >= 0 { close(file) } }
            try #require(files.allSatisfy { $0 >= 0 })
            #expect(try Self.shell("echo there").output == "there\n")
        }
    #endif
}
