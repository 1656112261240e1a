import Dispatch
import Foundation
import LatchkeyPlayback

/// Runs another program to its end.
enum ToolRun {
    /// The first of some programs that the search path has.
    static func find(_ names: String...) throws(BenchError) -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for name in names {
            for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
                return URL(filePath: "\(folder)/\(name)")
            }
        }
        throw .toolMissing(names.joined(separator: " or "))
    }

    /// What a program prints on standard output. Blocks until it ends.
    /// - Parameter environment: variables beside those of this process.
    /// - Throws: `toolFailed` unless its exit status is 0, and after 30 seconds.
    static func output(
        of program: URL, _ arguments: [String], environment: [String: String] = [:]
    ) throws(BenchError) -> String {
        let name = program.lastPathComponent
        let process = Process()
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
                try withSignals { try process.run() }
                return process.processIdentifier
            }
        } catch { throw .toolFailed(name, "it could not be started") }
        defer { Leftovers.ended(identifier) }
        let impatience = DispatchWorkItem { kill(identifier, SIGKILL) }
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

    /// Swift's threads let no signals through, a child inherits that, and `openssl speed` ends by a signal.
    private static func withSignals(_ body: () throws -> Void) rethrows {
        var (none, usual) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &usual)
        defer { pthread_sigmask(SIG_SETMASK, &usual, nil) }
        try body()
    }
}
