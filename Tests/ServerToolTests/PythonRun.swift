import Foundation
import LatchkeyCore
import LatchkeySystem

/// Python, maybe with packages of PyPI.
enum PythonRun {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
    static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
    private static let packages = root.appending(path: ".build/python-tools").path
    static let hasValidator = isThere && FileManager.default.fileExists(atPath: "\(packages)/openapi_spec_validator")
    /// Why a test with the validator is skipped.
    static let noValidator = "openapi-spec-validator is not there; make engines fetches it"

    /// A file of the repository.
    static func file(_ path: String) -> String { root.appending(path: path).path }

    /// Runs Python with the packages, on a separate thread.
    /// - Returns: its output.
    /// - Throws: unless it ends with 0.
    static func output(_ arguments: String...) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let (process, output) = start(
                            ["PYTHONPATH=\(packages)", "PYTHONDONTWRITEBYTECODE=1", "python3"] + arguments)
                        try process.run()
                        let data = try output.fileHandleForReading.readToEnd() ?? Data()
                        process.waitUntilExit()
                        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
                        return String(decoding: data, as: UTF8.self)
                    })
            }
        }
    }

    fileprivate static func start(_ arguments: [String]) -> (Subprocess, Pipe) {
        let (process, output) = (Subprocess(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        return (process, output)
    }
}

/// A program in Python that serves until it is stopped.
final class PythonService: Sendable {
    private let process: Subprocess
    /// Its address, the last word of the first line that it prints.
    let url: String

    /// Starts it, and waits for its first line.
    init(_ arguments: [String]) async throws {
        let (process, output) = PythonRun.start(["python3"] + arguments)
        self.process = process
        url = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try process.run()
                        var line = Data()
                        while line.last != UInt8(ascii: "\n") {
                            let more = output.fileHandleForReading.availableData
                            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
                            line += more
                        }
                        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                        return text.split(separator: " ").last.map(String.init) ?? ""
                    })
            }
        }
    }

    deinit { process.terminate() }
}
