import Foundation
import LatchkeyCore

/// One run of a program: started without a shell, watched by a thread of its own, ended when it takes too long.
///
/// Standard input is empty. The child gets none of our files but its two pipes. Its caller sees it leave before `run`
/// returns, whatever the reason, so none is left behind.
struct ChildProcess: Sendable {
    /// The path of the program.
    let program: String
    let arguments: [String]
    /// Bytes of standard output that are kept; more ends the run.
    var outputLimit = 64 << 20
    /// Bytes of standard error that are kept; more are read and dropped.
    var errorLimit = 256 << 10

    /// What a program left.
    struct Output: Sendable {
        let output: Data
        let errors: Data
        /// The exit status; nil after a signal.
        let status: Int32?
    }

    /// Runs the program to its end.
    /// - Throws: `CancellationError`; `PlaybackError` `deadlineExceeded`, `outputTooLarge`, `toolFailed`.
    func run(deadline: Duration, clock: any Timekeeper) async throws -> Output {
        let child = RunningChild()
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Output?.self) { group in
                group.addTask { try await self.output(of: child) }
                group.addTask {
                    try await clock.sleep(for: deadline)
                    child.end(because: PlaybackError.deadlineExceeded(deadline))
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
            // The thread ends with the child, and the child is ended by deadline or cancellation at the latest.
            Thread.detachNewThread {
                continuation.resume(with: Result { try child.run(self) })
            }
        }
    }
}

/// A child between its start and its end; may be ended from any thread.
private final class RunningChild: Sendable {
    private struct State {
        var process: pid_t?
        var reason: (any Error)?
    }

    private let state = Locked(State())

    /// Kills the child, or keeps it from being started. The first reason given is the one reported.
    func end(because reason: any Error) {
        state.withLock { state in
            state.reason = state.reason ?? reason
            if let process = state.process { kill(process, SIGKILL) }
        }
    }

    /// Starts the child, reads its pipes to their ends and waits for it. Blocks.
    func run(_ command: ChildProcess) throws -> ChildProcess.Output {
        let output = try Pipe.closedOnExec()
        let errors = try Pipe.closedOnExec()
        let process = try state.withLock { state in
            if let reason = state.reason { throw reason }
            let process = try spawn(command, output: output.writing, errors: errors.writing)
            state.process = process
            return process
        }
        output.closeWriting()
        errors.closeWriting()
        let collected = collect(output.reading, errors.reading, for: command)
        let status = leave(process)
        if let reason = state.withLock({ $0.reason }) { throw reason }
        guard let status else { throw PlaybackError.toolFailed("it was ended by a signal") }
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
                end(because: PlaybackError.outputTooLarge(command.outputLimit))
                standard = Data()
            }
        }
        return (standard, error)
    }

    /// Waits for the child; its number is free for others only once nobody can kill it any more.
    private func leave(_ process: pid_t) -> Int32? {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            state.process = nil
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status & 0x7f == 0 ? status >> 8 & 0xff : nil
        }
    }
}

private func spawn(_ command: ChildProcess, output: Int32, errors: Int32) throws -> pid_t {
    #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
    #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    #if canImport(Darwin)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
    #else
        for file in openFiles() { posix_spawn_file_actions_addclose(&actions, file) }
    #endif
    var arguments = ([command.program] + command.arguments).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let failure = posix_spawn(&process, command.program, &actions, &attributes, &arguments, environ)
    guard failure == 0 else { throw PlaybackError.toolFailed(String(cString: strerror(failure))) }
    return process
}

/// The numbers of files, the standard ones left out, that this process has open, and of those that other threads may open until the
/// child is there: a new file takes the lowest number that is free. One that is not open does no harm below the process's limit.
private func openFiles() -> Range<Int32> {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let highest = open.compactMap { Int32($0) }.max() ?? 2
    return 3..<max(3, min(highest + 64, getdtablesize()))
}

/// Two ends of a pipe, closed when the last reference goes and in every child.
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
            // Sockets, because they take the flag in the same step: a child that another thread starts in between two
            // steps would hold the pipe open. `pipe2` is not visible in Swift.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            let failure = socketpair(AF_UNIX, kind, 0, &ends)
        #endif
        guard failure == 0, let reading = ends.first, let writing = ends.last else {
            throw PlaybackError.toolFailed("no pipe could be made")
        }
        return Pipe(reading: reading, writing: writing)
    }

    /// What is there to read; nothing at the end.
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
