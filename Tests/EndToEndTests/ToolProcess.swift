import Foundation
import LatchkeyCore

/// The built tool, run as its users run it.
struct ToolProcess: Sendable {
    /// What a run left behind.
    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let error: String

        /// The output as JSON.
        var json: [String: Any]? { try? JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] }
        /// The code in `{"error": {"code": …}}`.
        var errorCode: String? { (json?["error"] as? [String: Any])?["code"] as? String }
        /// The code at the end of a message.
        var messageCode: String? {
            error.split(separator: "(").last?.split(separator: ")").first.map(String.init)
        }
    }

    /// The binary beside the tests; nil where it was not built.
    static let path: String? = {
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let file = folder.appending(path: "latchkey").path
            if isProgram(file) { return file }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    static var isThere: Bool { path != nil }
    static let whyNot = "the tool was not built; run swift build first"

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        return exists && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Runs it to its end.
    /// - Parameters:
    ///   - environment: changes to this process's environment; nil takes a variable away.
    ///   - arguments: what stands behind the program's name.
    static func run(_ arguments: String..., environment: [String: String?] = [:]) async throws -> Outcome {
        try await run(arguments, environment: environment)
    }

    /// - Parameter program: another program than the tool, one that runs it.
    static func run(
        program: String? = nil, _ arguments: [String], environment: [String: String?] = [:]
    ) async throws -> Outcome {
        let folder = try TemporaryFolder()
        let process = make(program: program, arguments, environment)
        let files = try ["output", "error"].map { name in
            try Data().write(to: folder.file(name))
            return try FileHandle(forWritingTo: folder.file(name))
        }
        process.standardOutput = files[0]
        process.standardError = files[1]
        let status = try await status(of: process)
        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
        }
        return Outcome(status: status, output: try text("output"), error: try text("error"))
    }

    static func make(program: String? = nil, _ arguments: [String], _ environment: [String: String?] = [:]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program ?? path ?? "")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.environment = environment.reduce(into: ProcessInfo.processInfo.environment) { $0[$1.key] = $1.value }
        return process
    }

    static func status(of process: Process) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}

/// `latchkey serve` as a process.
final class ServeProcess: @unchecked Sendable {
    // Sound because a test uses it from one task; the reader of standard output touches `lines` only.
    private let process: Process
    private let output = Pipe()
    private let errors: FileHandle
    private let folder: TemporaryFolder
    private let ended: Task<Int32, Never>

    /// Starts it and waits until it says where it listens.
    init(_ arguments: String...) async throws {
        folder = try TemporaryFolder()
        try Data().write(to: folder.file("error"))
        errors = try FileHandle(forWritingTo: folder.file("error"))
        process = ToolProcess.make(["serve"] + arguments)
        process.standardOutput = output
        process.standardError = errors
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        ended = Task { await ends.first { _ in true } ?? -1 }
        try process.run()
        lines = await Self.lines(untilOneOf: "cloud-drm", of: output.fileHandleForReading)
    }

    deinit { if process.isRunning { process.terminate() } }

    /// The first lines of standard output.
    private(set) var lines: [String] = []

    /// Where it listens.
    var address: String { lines.first?.split(separator: " ").last.map(String.init) ?? "" }

    /// What `--set` takes for a service, as it says itself.
    func settings(of service: String) -> [String] {
        let line = lines.first { $0.hasPrefix("\(service): ") } ?? ""
        return line.components(separatedBy: "--set '").dropFirst().flatMap {
            ["--set", String($0.prefix { $0 != "'" })]
        }
    }

    /// Everything on standard error so far.
    var log: String { (try? String(contentsOf: folder.file("error"), encoding: .utf8)) ?? "" }

    /// Closes the reading end of its standard output.
    func stopReading() { try? output.fileHandleForReading.close() }

    /// Sends a signal and waits for the end.
    func end(by signal: Int32) async -> Int32 {
        kill(process.processIdentifier, signal)
        return await ended.value
    }

    /// Reads on a thread of its own, as reading blocks.
    private static func lines(untilOneOf service: String, of handle: FileHandle) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var data = Data()
                while data.last != 10 || data.firstRange(of: Data("\n\(service): ".utf8)) == nil {
                    let more = handle.availableData
                    if more.isEmpty { break }
                    data.append(more)
                }
                continuation.resume(
                    returning: String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
            }
        }
    }
}
