import Foundation
import LatchkeyCore
import LatchkeySystem

/// One run of a program without a shell. A dedicated thread watches it, and a deadline ends it.
///
/// Standard input is empty. The child inherits no files except its two pipes. `run` returns only after the child has ended,
/// for whatever reason, so no child is left behind.
struct ChildProcess: Sendable {
    /// The path of the program.
    let program: String
    let arguments: [String]
    /// The maximum number of bytes of standard output. More output ends the run.
    var outputLimit = 64 << 20
    /// The maximum number of bytes of standard error that are kept. The rest is read and dropped.
    var errorLimit = 256 << 10

    /// The results of a run.
    struct Output: Sendable {
        let output: Data
        let errors: Data
        /// The exit status; `nil` after a signal.
        let status: Int32?
    }

    /// Runs the program to its end.
    /// - Throws: `CancellationError`; `Diagnosis` `deadlineExceeded`, `outputTooLarge`, `toolFailed`.
    func run(deadline: Duration, clock: any Timekeeper) async throws -> Output {
        let child = RunningChild()
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Output?.self) { group in
                group.addTask { try await self.output(of: child) }
                group.addTask {
                    try await clock.sleep(for: deadline)
                    child.end(because: Diagnosis.deadlineExceeded(deadline))
                    return nil
                }
                defer { group.cancelAll() }
                while let output = try await group.next() {
                    if let output { return output }
                }
                throw CancellationError()
            }
        } onCancel: {
            child.end(because: CancellationError())
        }
    }

    private func output(of child: RunningChild) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            // The thread ends with the child, and the deadline or a cancellation ends the child at the latest.
            Thread.detachNewThread {
                continuation.resume(with: Result { try child.run(self) })
            }
        }
    }
}

/// A child process. Any thread may end it.
private final class RunningChild: Sendable {
    private struct State {
        var process: pid_t?
        var reason: (any Error)?
    }

    private let state = Locked(State())

    /// Kills the child or prevents its start. Only the first reason is reported.
    func end(because reason: any Error) {
        state.withLock { state in
            state.reason = state.reason ?? reason
            if let process = state.process { kill(process, SIGKILL) }
        }
    }

    /// Starts the child, reads its pipes to the end and waits for it. Blocks.
    func run(_ command: ChildProcess) throws -> ChildProcess.Output {
        let output = try Pipe.closedOnExec()
        let errors = try Pipe.closedOnExec()
        let process = try state.withLock { state in
            if let reason = state.reason { throw reason }
            let process = try Leftovers.start { try spawn(command, output: output.writing, errors: errors.writing) }
            state.process = process
            return process
        }
        output.closeWriting()
        errors.closeWriting()
        let collected = collect(output.reading, errors.reading, for: command)
        let status = leave(process)
        if let reason = state.withLock({ $0.reason }) { throw reason }
        guard let status else { throw Diagnosis.toolFailed("it was ended by a signal") }
        return ChildProcess.Output(output: collected.output, errors: collected.errors, status: status)
    }

    /// Reads both pipes until the child has closed them.
    private func collect(_ output: Int32, _ errors: Int32, for command: ChildProcess) -> (output: Data, errors: Data) {
        var (standard, error) = (Data(), Data())
        var open = [output, errors]
        while !open.isEmpty {
            var waiting = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { break }
            for descriptor in waiting where descriptor.revents != 0 {
                let bytes = Pipe.read(descriptor.fd)
                if bytes.isEmpty { open.removeAll { $0 == descriptor.fd } }
                if descriptor.fd == errors { error.append(bytes.prefix(max(0, command.errorLimit - error.count))) }
                if descriptor.fd == output { standard.append(bytes) }
            }
            if standard.count > command.outputLimit {
                end(because: Diagnosis.outputTooLarge(command.outputLimit))
                standard = Data()
            }
        }
        return (standard, error)
    }

    /// Waits for the child. Its process number is released only when no thread can kill it any more.
    private func leave(_ process: pid_t) -> Int32? {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            state.process = nil
            var status: Int32 = 0
            Leftovers.ended(process) {
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
            }
            return status & 0x7f == 0 ? status >> 8 & 0xff : nil
        }
    }
}

private func spawn(_ command: ChildProcess, output: Int32, errors: Int32) throws -> pid_t {
    // Removes variables that may hold credentials.
    let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LATCHKEY_") }
    do {
        return try Subprocess.spawn(
            command.program, command.arguments, environment: environment,
            files: [.nothing, .descriptor(output), .descriptor(errors)])
    } catch let error as POSIXError {
        throw Diagnosis.toolFailed(String(cString: strerror(error.code.rawValue)))
    }
}

/// A pipe. Its ends are closed with the last reference, and in every child.
private final class Pipe {
    let reading: Int32
    private(set) var writing: Int32

    private init(reading: Int32, writing: Int32) {
        self.reading = reading
        self.writing = writing
    }

    static func closedOnExec() throws -> Pipe {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let failure = pipe(&ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #else
            // A socket pair, because it sets close-on-exec in the same step: between two steps, another thread could start a
            // child that holds the pipe open. Swift does not import `pipe2`.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            let failure = socketpair(AF_UNIX, kind, 0, &ends)
        #endif
        guard failure == 0, let reading = ends.first, let writing = ends.last else {
            throw Diagnosis.toolFailed("no pipe could be made")
        }
        return Pipe(reading: reading, writing: writing)
    }

    /// The available bytes; empty at the end.
    static func read(_ descriptor: Int32) -> Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var count: Int
        repeat { count = Foundation.read(descriptor, &buffer, buffer.count) } while count < 0 && errno == EINTR
        return Data(buffer.prefix(max(0, count)))
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    deinit {
        closeWriting()
        close(reading)
    }
}
