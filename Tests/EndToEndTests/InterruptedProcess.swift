import Foundation
import LatchkeySystem
import LatchkeyTesting
import Testing

/// A process of the tool that a test interrupts while its decoders run. Here `ffmpeg` is a program that reports its process
/// number and waits.
final class InterruptedProcess: @unchecked Sendable {
    // Sound because a test uses it from one task; the thread that reads the fifo touches only its descriptor.
    let folder: TemporaryFolder
    private let process: Subprocess
    private let ended: Task<(status: Int32, reason: Subprocess.TerminationReason), Never>
    private let fifo: Int32
    /// The process numbers of the decoders.
    private(set) var decoders: [pid_t] = []

    init(_ arguments: [String]) throws {
        folder = try TemporaryFolder()
        for name in ["bin", "temporary"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
        try #require(mkfifo(folder.path("fifo"), 0o600) == 0)
        // Opened for both directions, so that neither side waits for the other.
        fifo = open(folder.path("fifo"), O_RDWR | O_CLOEXEC)
        let script = try folder.write(
            "#!/bin/sh\necho $$ > '\(folder.path("fifo"))'\nexec sleep 1000\n", to: "bin/ffmpeg")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        process = ToolProcess.make(
            arguments, ["PATH": "\(folder.path("bin")):\(path)", "TMPDIR": folder.path("temporary")])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ends, end) = AsyncStream.makeStream(of: (Int32, Subprocess.TerminationReason).self)
        process.terminationHandler = { end.yield(($0.terminationStatus, $0.terminationReason)) }
        ended = Task { await ends.first { _ in true } ?? (-1, .uncaughtSignal) }
        // As a shell starts it, even if the tests themselves run under `nohup`.
        _ = signal(SIGHUP, SIG_DFL)
        try process.run()
    }

    deinit {
        process.send(SIGKILL)
        for decoder in decoders { kill(decoder, SIGKILL) }
        close(fifo)
    }

    /// Waits until a number of decoders run.
    func untilDecodersRun(_ count: Int) async {
        decoders = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [fifo] in
                var text = ""
                var buffer = [UInt8](repeating: 0, count: 256)
                while text.count(where: { $0 == "\n" }) < count {
                    let length = read(fifo, &buffer, buffer.count)
                    guard length > 0 else { break }
                    text += String(decoding: buffer.prefix(length), as: UTF8.self)
                }
                continuation.resume(returning: text.split(separator: "\n").compactMap { pid_t($0) })
            }
        }
    }

    /// Sends a signal and waits for the end.
    func end(by signal: Int32) async -> (status: Int32, reason: Subprocess.TerminationReason) {
        process.send(signal)
        return await ended.value
    }

    /// Everything in its folder for temporary files: paths and permissions.
    var temporaryFiles: [(path: String, mode: Int)] {
        let root = folder.path("temporary")
        return (FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []).map { path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(root)/\(path)")
            return (path, attributes?[.posixPermissions] as? Int ?? 0)
        }
    }

    /// The decoders that are still running.
    var survivors: [pid_t] { decoders.filter { kill($0, 0) == 0 } }
}
