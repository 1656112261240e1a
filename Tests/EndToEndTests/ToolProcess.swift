import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built tool, run like a user runs it.
struct ToolProcess: Sendable {
    /// The results of a run.
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

    /// The binary beside the tests; `nil` if it was not built.
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

    /// Runs the tool to its end.
    /// - Parameters:
    ///   - environment: changes to this process's environment; `nil` removes a variable.
    ///   - arguments: the arguments after the program's name.
    static func run(_ arguments: String..., environment: [String: String?] = [:]) async throws -> Outcome {
        try await run(arguments, environment: environment)
    }

    /// - Parameter program: a program that runs the tool instead of running it directly.
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
    // Sound because a test uses it from one task; the reader of standard output touches only `lines`.
    private let process: Process
    private let output = Pipe()
    private let errors: FileHandle
    private let folder: TemporaryFolder
    private let ended: Task<Int32, Never>

    /// Starts it and waits until it prints its address.
    /// - Parameter ignored: a signal that the starting process makes it ignore, as `nohup` does: `HUP`.
    init(ignoring ignored: String? = nil, _ arguments: String...) async throws {
        folder = try TemporaryFolder()
        try Data().write(to: folder.file("error"))
        errors = try FileHandle(forWritingTo: folder.file("error"))
        let shell = ["-c", "trap '' \(ignored ?? "")\nexec \"$0\" serve --json \"$@\"", ToolProcess.path ?? ""]
        process =
            ignored == nil
            ? ToolProcess.make(["serve", "--json"] + arguments)
            : ToolProcess.make(program: "/bin/sh", shell + arguments)
        process.standardOutput = output
        process.standardError = errors
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        ended = Task { await ends.first { _ in true } ?? -1 }
        try process.run()
        let line = await Self.firstLine(of: output.fileHandleForReading)
        sheet = (try? JSONDecoder().decode(Sheet.self, from: line)) ?? Sheet(address: "", services: [])
    }

    deinit { if process.isRunning { process.terminate() } }

    /// The process' number.
    var identifier: Int32 { process.processIdentifier }

    /// The parts of its `--json` output that tests use.
    struct Sheet: Decodable {
        struct Service: Decodable {
            let service, profile: String
            let settings: [String: String]
            let tokens, play: String?
        }

        let address: String
        let services: [Service]
    }

    /// Its introduction.
    let sheet: Sheet

    /// Its address.
    var address: String { sheet.address }

    /// The `--set` values of a service, as the tool prints them.
    func settings(of service: String) -> [String] {
        guard let service = sheet.services.first(where: { $0.service == service }) else { return [] }
        let settings =
            service.settings.map { "\($0.key)=\($0.value)" } + (service.tokens.map { ["token=@\($0)"] } ?? [])
        return settings.flatMap { ["--set", $0] }
    }

    /// A new token of a service.
    func token(of service: String) async throws -> String {
        let address = sheet.services.first { $0.service == service }?.tokens ?? ""
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        let reply = try await SystemTransport().send(URLRequest(url: url), bodyLimit: 1 << 20)
        return String(decoding: reply.body, as: UTF8.self)
    }

    /// All output on standard error so far.
    var log: String { (try? String(contentsOf: folder.file("error"), encoding: .utf8)) ?? "" }

    /// Closes the reading end of its standard output.
    func stopReading() { try? output.fileHandleForReading.close() }

    /// Sends a signal.
    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Sends a signal and waits for the end.
    func end(by signal: Int32) async -> Int32 {
        send(signal)
        return await ended.value
    }

    /// Reads on a separate thread, because reading blocks.
    private static func firstLine(of handle: FileHandle) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var data = Data()
                while !data.contains(10) {
                    let more = handle.availableData
                    if more.isEmpty { break }
                    data.append(more)
                }
                continuation.resume(returning: data.prefix { $0 != 10 })
            }
        }
    }
}
