import Foundation
import LatchkeyCore
import LatchkeySystem
import Testing

/// A process is killed at any step of a change to a file key store, 200 times, and the store holds the state before or after.
@Suite(.timeLimit(.minutes(5))) struct StoreCrashTests {
    /// The report of `StoreCrash`.
    private struct Report: Decodable {
        let killed: Int
        let old: Int
        let new: Int
        let steps: [String: Int]
        let violations: [String]
    }

    private static let processes = 4
    /// How many processes are killed in all; `LATCHKEY_CRASHES=1000` for a thorough run.
    private static let crashes = ProcessInfo.processInfo.environment["LATCHKEY_CRASHES"].flatMap { Int($0) } ?? 200
    private static let runs = crashes / processes

    /// The program next to the tests; nil if it was not built.
    private static let program: URL? = {
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let file = folder.appending(path: "StoreCrash")
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    @Test(.enabled(if: program != nil, "StoreCrash was not built"))
    func `a process killed at any step leaves the old or the new state`() async throws {
        let folder = try CrashFolder()
        let reports = try await withThrowingTaskGroup(of: Report.self) { group in
            for seed in 1...Self.processes {
                group.addTask { try await Self.report(folder.url.appending(path: "\(seed)"), seed) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.flatMap(\.violations) == [])
        #expect(reports.map(\.killed).reduce(0, +) == Self.processes * Self.runs)
        #expect(reports.map(\.old).reduce(0, +) > 0)
        #expect(reports.map(\.new).reduce(0, +) > 0)
        let steps = reports.reduce(into: Set()) { $0.formUnion($1.steps.keys) }
        #expect(steps.isSuperset(of: ["create", "write", "synchronize", "rename", "synchronizeFolder", "remove"]))
    }

    private static func report(_ folder: URL, _ seed: Int) async throws -> Report {
        let process = Subprocess()
        process.executableURL = program
        process.arguments = [folder.path, "\(seed)", "\(runs)"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = await withCheckedContinuation { continuation in
            // Reading blocks until the process has ended.
            Thread.detachNewThread { continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile()) }
        }
        return try JSONDecoder().decode(Report.self, from: data)
    }
}

/// A folder for many small files, in memory if the system has such a place.
private final class CrashFolder: Sendable {
    let url: URL

    init() throws {
        let memory = URL(filePath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        url = (isThere ? memory : FileManager.default.temporaryDirectory)
            .appending(path: "latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
