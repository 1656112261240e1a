import CSockets
import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeySystem

/// A worker process, as the one thread that uses it sees it. Killed with the last reference.
// Sound because one thread at a time uses it: at first the setup's, then the worker's.
final class ModuleProcess: @unchecked Sendable {
    /// How a worker process is started.
    struct Start: Sendable {
        /// The program whose verb `module-worker` it runs.
        let program: String
        let library: String
        /// The folder of the module's credentials; `nil` for none.
        let credentials: String?

        /// The server's own variables stay with it, because they may be secrets.
        fileprivate var environment: [String: String] {
            let kept = ["PATH", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"]
            var variables = ProcessInfo.processInfo.environment.filter { kept.contains($0.key) }
            variables["FAIRPLAY_CREDENTIALS_PATH"] = credentials
            return variables
        }
    }

    /// The module's own version, as it states it.
    private(set) var version = ""
    private let process = Subprocess()
    private let socket: Int32
    private var nextID = 1

    /// How long loading the library may take.
    private static let loading = Duration.seconds(20)

    /// Starts a process, and waits until it has loaded the library.
    /// - Throws: `unreachable`, with the reason.
    init(_ start: Start) throws(ModuleFailure) {
        var ends: [Int32] = [-1, -1]
        guard latchkey_pair(&ends) else {
            throw .unreachable(String(cString: strerror(errno)), remedy: "Raise the server's limit of open files.")
        }
        socket = ends[0]
        let child = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process.executableURL = URL(filePath: start.program)
        process.arguments = [ModuleWorker.verb, start.library]
        process.environment = start.environment
        (process.standardInput, process.standardOutput, process.standardError) = (
            child, FileHandle.nullDevice, FileHandle.nullDevice
        )
        do { try process.run() } catch {
            throw .unreachable(
                "The program \(start.program.onOneLine) does not start: \(error).",
                remedy: "Set licensee.module.program to latchkey-server.")
        }
        try? child.close()
        let (status, text) = try frame(limit: 1 << 16, until: .now + Self.loading, Self.loading)
        version = String(decoding: text, as: UTF8.self)
        guard status == 0 else {
            let problem = JSONValue(text)
            throw .unreachable(
                problem?["reason"]?.text ?? "It gave no reason.",
                remedy: problem?["remedy"]?.text ?? "Ask the module's author.")
        }
    }

    deinit {
        process.send(SIGKILL)
        close(socket)
    }

    /// Whether it runs, as far as the system has told.
    var isRunning: Bool { process.isRunning }

    /// Asks the module to answer some items.
    /// - Returns: the answers in the order of the items.
    /// - Throws: a failure of all items together.
    func answers(
        _ questions: [ModuleQuestion], within time: Duration
    ) throws(ModuleFailure) -> [Result<ModuleReply, ModuleFailure>] {
        let first = nextID
        nextID = nextID > 1 << 30 ? 1 : nextID + questions.count
        let request = ModuleExchange.request(questions, first: first)
        let end = ContinuousClock.now + time
        try send(UInt32(clamping: request.count).bigEndianBytes + request, until: end, time)
        let (status, output) = try frame(limit: ModuleExchange.limit(questions.count), until: end, time)
        guard status == 0 || !output.isEmpty else { throw ModuleFailure(status: Int(status)) }
        do throws(ModuleFailure) {
            return try ModuleExchange.replies(output, count: questions.count, first: first)
        } catch {
            throw status == 0 ? error : ModuleFailure(status: Int(status))
        }
    }

    private func frame(
        limit: Int, until end: ContinuousClock.Instant, _ time: Duration
    ) throws(ModuleFailure) -> (status: Int32, output: [UInt8]) {
        let head = try receive(8, until: end, time)
        let count = Int(UInt32(bigEndian: head.prefix(4)))
        guard count <= limit else {
            throw ModuleFailure(.oversized, "The licensee's module returned \(count) bytes; the limit is \(limit).")
        }
        return (Int32(bitPattern: UInt32(bigEndian: head.suffix(4))), try receive(count, until: end, time))
    }

    private func send(
        _ bytes: [UInt8], until end: ContinuousClock.Instant, _ time: Duration
    ) throws(ModuleFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { latchkey_send(socket, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else { try wait(count, for: POLLOUT, until: end, time) }
        }
    }

    private func receive(
        _ count: Int, until end: ContinuousClock.Instant, _ time: Duration
    ) throws(ModuleFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let more = bytes.withUnsafeMutableBytes {
                latchkey_receive(socket, $0.baseAddress.map { $0 + received }, count - received)
            }
            guard more != 0 else { throw .crashed }
            if more > 0 { received += more } else { try wait(more, for: POLLIN, until: end, time) }
        }
        return bytes
    }

    /// Waits until the socket is ready again, after a call that returned -1.
    private func wait(
        _ result: Int, for event: Int32, until end: ContinuousClock.Instant, _ time: Duration
    ) throws(ModuleFailure) {
        guard [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) else { throw .crashed }
        let left = end - .now
        guard left > .zero else { throw .timedOut(time) }
        var ready = pollfd(fd: socket, events: Int16(event), revents: 0)
        _ = poll(&ready, 1, Int32(clamping: Int64((left.inSeconds * 1_000).rounded(.up))))
    }
}
