import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
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

    /// The binary next to the tests; `nil` if it was not built.
    static let path = binary("latchkey")

    /// A binary next to the tests; `nil` if it was not built.
    static func binary(_ name: String) -> String? {
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let file = folder.appending(path: name).path
            if isProgram(file) { return file }
            folder.deleteLastPathComponent()
        }
        return nil
    }

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

    static func make(program: String? = nil, _ arguments: [String], _ environment: [String: String?] = [:])
        -> Subprocess
    {
        let process = Subprocess()
        process.executableURL = URL(filePath: program ?? path ?? "")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.environment = environment.reduce(into: ProcessInfo.processInfo.environment) { $0[$1.key] = $1.value }
        return process
    }

    static func status(of process: Subprocess) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
