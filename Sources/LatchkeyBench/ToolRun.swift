import Dispatch
import Foundation
import LatchkeyCore
import LatchkeyPlayback
import LatchkeySystem

/// Runs another program to its end.
enum ToolRun {
    /// The first of several programs found in the search path.
    static func find(_ names: String...) throws(Diagnosis) -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for name in names {
            for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
                return URL(filePath: "\(folder)/\(name)")
            }
        }
        throw .toolMissing(names.joined(separator: " or "))
    }

    /// A program's standard output. Blocks until it ends.
    /// - Parameter environment: variables in addition to this process's.
    /// - Throws: `toolFailed` unless its exit status is 0, and after 30 seconds.
    static func output(
        of program: URL, _ arguments: [String], environment: [String: String] = [:]
    ) throws(Diagnosis) -> String {
        let name = program.lastPathComponent
        let process = Subprocess()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let identifier: pid_t
        do {
            identifier = try Leftovers.start {
                try process.run()
                return process.processIdentifier
            }
        } catch { throw .toolFailed(name, "it could not be started") }
        defer { Leftovers.ended(identifier) }
        let impatience = DispatchWorkItem { process.send(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: impatience)
        defer { impatience.cancel() }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw .toolFailed(name, "its exit status is \(process.terminationStatus)")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let limit: TimeInterval = 30
}
