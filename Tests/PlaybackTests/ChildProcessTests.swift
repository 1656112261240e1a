import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

@Suite(.timeLimit(.minutes(5))) struct ChildProcessTests {
    private static func shell(_ script: String) -> ChildProcess {
        ChildProcess(program: "/bin/sh", arguments: ["-c", script])
    }

    private static func run(_ child: ChildProcess) async throws -> ChildProcess.Output {
        try await child.run(deadline: .seconds(60), clock: ManualTimekeeper())
    }

    @Test func `both outputs and the status come back`() async throws {
        let result = try await Self.run(Self.shell("echo picture; echo complaint >&2; exit 3"))
        #expect(String(decoding: result.output, as: UTF8.self) == "picture\n")
        #expect(String(decoding: result.errors, as: UTF8.self) == "complaint\n")
        #expect(result.status == 3)
    }

    @Test func `standard input is empty and arguments meet no shell`() async throws {
        let cat = try await Self.run(ChildProcess(program: "/bin/cat", arguments: []))
        #expect(cat.output.isEmpty)
        let echo = try await Self.run(ChildProcess(program: "/bin/echo", arguments: ["$HOME; `id`", "*"]))
        #expect(String(decoding: echo.output, as: UTF8.self) == "$HOME; `id` *\n")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func `the child inherits no open file`() async throws {
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        let result = try await Self.run(ChildProcess(program: "/bin/ls", arguments: ["/proc/self/fd"]))
        let files = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        #expect(files == ["0", "1", "2", "3"], "the fourth is the folder that ls reads")
    }

    @Test func `much output on both sides does not stall`() async throws {
        let result = try await Self.run(Self.shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"))
        #expect(result.output.count == 300_000)
        #expect(result.errors.count == 256 << 10)
    }

    @Test func `endless output is cut off`() async {
        var child = Self.shell("exec cat /dev/zero")
        child.outputLimit = 1_000_000
        #expect(await errorCode { try await Self.run(child) } == "outputTooLarge")
    }

    @Test func `a child that ends by a signal has failed`() async {
        #expect(await errorCode { try await Self.run(Self.shell("kill -9 $$")) } == "toolFailed")
    }

    @Test func `a missing program has failed`() async {
        let child = ChildProcess(program: "/nowhere/ffmpeg", arguments: [])
        #expect(await errorCode { try await Self.run(child) } == "toolFailed")
    }

    @Test func `the deadline ends a child that hangs`() async throws {
        let clock = ManualTimekeeper()
        let fifo = try Fifo()
        let child = ChildProcess(program: "/bin/cat", arguments: [fifo.url.path])
        let run = Task { try await child.run(deadline: .seconds(5), clock: clock) }
        let writer = await fifo.openForWriting()
        await clock.untilSomeoneSleeps()
        clock.advance(by: .seconds(5))
        await #expect(throws: Diagnosis.deadlineExceeded(.seconds(5))) { try await run.value }
        #expect(writer.hasNoReader)
    }

    @Test func `cancelling ends a child that hangs`() async throws {
        let fifo = try Fifo()
        let task = Task { try await Self.run(ChildProcess(program: "/bin/cat", arguments: [fifo.url.path])) }
        let writer = await fifo.openForWriting()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(writer.hasNoReader)
    }

    @Test func `a task that is already cancelled starts nothing`() async throws {
        let folder = try TemporaryFolder()
        let mark = folder.url.appending(path: "started").path
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Self.run(ChildProcess(program: "/usr/bin/touch", arguments: [mark]))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: mark))
    }
}
