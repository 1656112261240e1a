import CSockets
package import Foundation
import LatchkeyCore

/// Where a child process reads from or writes to: a file, a pipe, or nothing, which is `FileHandle.nullDevice`.
package protocol SubprocessStream: AnyObject {}

extension FileHandle: SubprocessStream {}
extension Pipe: SubprocessStream {}

/// A child process. It is set up and started as Foundation's `Process`, and inherits no file except its three standard ones.
///
/// Foundation's own ends this process where about 1,350 files are open, because it reads beyond its list of them; and a child that
/// another thread starts at the same moment may inherit its pipes, so that their end never comes.
// Sound because everything that changes once the child runs is under a lock, and one thread sets it up.
package final class Subprocess: @unchecked Sendable {
    /// How it ended.
    package enum TerminationReason: Sendable, Hashable {
        case exit, uncaughtSignal
    }

    private struct End {
        var reason = TerminationReason.exit
        var status: Int32 = 0
    }

    private struct State {
        /// The number while it is the child's.
        var number: Int32?
        var end: End?
    }

    /// The program; a path in the file system.
    package var executableURL: URL?
    package var arguments: [String] = []
    /// Its environment; `nil` for that of this process.
    package var environment: [String: String]?
    /// The standard files; `nil` for those of this process.
    package var standardInput, standardOutput, standardError: (any SubprocessStream)?
    /// Called on a separate thread when the process has ended.
    package var terminationHandler: (@Sendable (Subprocess) -> Void)?
    /// The process's number; 0 before it was started.
    package private(set) var processIdentifier: Int32 = 0

    private let state = Locked(State())
    private let ended = NSCondition()

    package init() {}

    /// Starts it. Ends of pipes that are the child's are closed here.
    /// - Throws: `POSIXError`, such as `ENOENT` for a missing program.
    package func run() throws {
        processIdentifier = try spawn()
        state.withLock { $0.number = processIdentifier }
        try? (standardInput as? Pipe)?.fileHandleForReading.close()
        for stream in [standardOutput, standardError] { try? (stream as? Pipe)?.fileHandleForWriting.close() }
        // The thread ends with the child.
        Thread.detachNewThread { self.watch() }
    }

    package var isRunning: Bool { state.withLock { $0.number != nil } }
    /// The exit status, or the number of the signal; 0 while it runs.
    package var terminationStatus: Int32 { state.withLock { $0.end?.status ?? 0 } }
    package var terminationReason: TerminationReason { state.withLock { $0.end?.reason ?? .exit } }

    /// Waits for its end. Blocks the calling thread.
    package func waitUntilExit() {
        ended.withLock { while state.withLock({ $0.number != nil && $0.end == nil }) { ended.wait() } }
    }

    /// Sends SIGTERM.
    package func terminate() { send(SIGTERM) }

    /// Sends a signal, unless it has ended.
    package func send(_ signal: Int32) {
        state.withLock { if let number = $0.number { kill(number, signal) } }
    }

    private func watch() {
        var information = siginfo_t()
        // The number stays the child's until its end is noted, so that no signal goes to another process.
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        ended.withLock {
            state.withLock { state in
                var status: Int32 = 0
                while waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7f
                state.end =
                    signal == 0 ? End(status: status >> 8 & 0xff) : End(reason: .uncaughtSignal, status: signal)
                state.number = nil
            }
            ended.broadcast()
        }
        terminationHandler?(self)
    }

    private func spawn() throws -> pid_t {
        let streams = [standardInput, standardOutput, standardError]
        return try Self.spawn(
            executableURL?.path ?? "", arguments, environment: environment ?? ProcessInfo.processInfo.environment,
            files: streams.enumerated().map { Self.file(of: $1, isInput: $0 == 0) })
    }

    /// The child's file for a stream.
    private static func file(of stream: (any SubprocessStream)?, isInput: Bool) -> StandardFile {
        if let pipe = stream as? Pipe {
            return .descriptor((isInput ? pipe.fileHandleForReading : pipe.fileHandleForWriting).fileDescriptor)
        }
        guard let handle = stream as? FileHandle else { return .inherited }
        return handle === FileHandle.nullDevice ? .nothing : .descriptor(handle.fileDescriptor)
    }
}

extension Subprocess {
    /// The kind of a child's standard file.
    package enum StandardFile: Sendable, Hashable {
        /// That of this process.
        case inherited
        /// Empty, or thrown away.
        case nothing
        /// An open file of this process.
        case descriptor(Int32)
    }

    /// Starts a child, for a caller that waits for its end itself.
    /// - Parameters:
    ///   - program: a path in the file system.
    ///   - arguments: the arguments after the program's name.
    ///   - environment: the variables.
    ///   - files: standard input, output and error, in this order. The child inherits no other.
    /// - Returns: its number.
    /// - Throws: `POSIXError`, such as `ENOENT` for a missing program.
    package static func spawn(
        _ program: String, _ arguments: [String], environment: [String: String], files: [StandardFile]
    ) throws -> Int32 {
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
        for (number, file) in zip(Int32(0)..., files) {
            switch file {
            case .inherited: break
            case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        // Swift's threads block all signals, and this process may ignore some: the child has them as one that a shell starts.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, Int16(flags) | latchkey_close_others(&actions))

        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, program, &actions, &attributes, &words, &variables)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EINVAL) }
        return process
    }
}
