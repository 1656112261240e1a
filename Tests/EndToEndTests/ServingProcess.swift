import Foundation
import LatchkeySystem
import LatchkeyTesting

/// A program that prints one line when it is ready, and then serves.
final class ServingProcess: @unchecked Sendable {
    // Sound because a test uses it from one task; the reader of standard output touches nothing of it.
    private let process: Subprocess
    private let output = Pipe()
    private let errors: FileHandle
    private let folder: TemporaryFolder
    private let ended: Task<Int32, Never>
    /// The line that it printed when it was ready; empty if it ended before.
    let line: Data

    /// Starts it and waits until it prints a line.
    init(program: String, _ arguments: [String]) async throws {
        folder = try TemporaryFolder()
        try Data().write(to: folder.file("error"))
        errors = try FileHandle(forWritingTo: folder.file("error"))
        process = ToolProcess.make(program: program, arguments)
        process.standardOutput = output
        process.standardError = errors
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        ended = Task { await ends.first { _ in true } ?? -1 }
        try process.run()
        line = await Self.firstLine(of: output.fileHandleForReading)
    }

    deinit { process.terminate() }

    /// The process' number.
    var identifier: Int32 { process.processIdentifier }

    /// All output on standard error so far.
    var log: String { (try? String(contentsOf: folder.file("error"), encoding: .utf8)) ?? "" }

    /// The resident memory, in bytes; `nil` after its end.
    var residentBytes: Int? { bytes("VmRSS:") }

    /// The most resident memory that it had so far, in bytes; `nil` after its end.
    var mostResidentBytes: Int? { bytes("VmHWM:") }

    private func bytes(_ name: String) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.split { !$0.isNumber }.first ?? "") }.map { $0 << 10 }
    }

    /// Closes the reading end of its standard output.
    func stopReading() { try? output.fileHandleForReading.close() }

    /// Sends a signal.
    func send(_ signal: Int32) { process.send(signal) }

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
