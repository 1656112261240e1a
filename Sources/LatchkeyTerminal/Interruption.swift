import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// The end of the process by the user or the system: interrupt (control-C), terminate, hang up.
///
/// The first signal removes working folders with keys and media, removes partial files, and ends child processes. Then the
/// process exits with 128 plus the signal's number, as shells expect. Only a verb that waits for its end, such as `serve`,
/// gets time for an orderly shutdown, until a second signal.
package enum Interruption {
    private struct State {
        var signal: Int32?
        var isAwaited = false
        var handler: (@Sendable (Int32) -> Bool)?
    }

    private static let state = Locked(State())
    private static let arrivals = SignalPipe()
    /// The maximum time for an orderly shutdown.
    private static let patience = Duration.seconds(15)

    /// Waits for the first signal. The verb that calls this then shuts down in order.
    package static func first() async {
        state.withLock { $0.isAwaited = true }
        // Ends with its task, which the signal cancels.
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }

    /// Replaces the signal handling, for a server that reloads at a hang-up and needs time to stop.
    /// - Parameter handler: receives a signal's number; `false` lets it end the process. Called on a dedicated thread.
    package static func handle(_ handler: @escaping @Sendable (Int32) -> Bool) {
        state.withLock { $0.handler = handler }
    }

    /// Starts watching for signals.
    /// - Parameter cancel: starts an orderly shutdown; called once, from any thread.
    package static func watch(_ cancel: @escaping @Sendable () -> Void) {
        guard let arrivals else { return }
        // A hang-up ignored from the start, as with `nohup`, stays ignored.
        let numbers = [SIGINT, SIGTERM, SIGHUP].filter { $0 != SIGHUP || !isIgnored($0) }
        for number in numbers { signal(number) { Interruption.arrivals?.put($0) } }
        // Ends with the process.
        Thread.detachNewThread {
            letThrough(numbers)
            guard let number = unhandled(arrivals) else { return }
            let isAwaited = state.withLock { state in
                state.signal = number
                return state.isAwaited
            }
            cancel()
            Leftovers.removeAll()
            Terminal.restore()
            if isAwaited { _ = arrivals.next(within: patience) }
            exitNow(after: number)
        }
    }

    /// Waits for the first signal that no handler accepts.
    private static func unhandled(_ arrivals: SignalPipe) -> Int32? {
        while let number = arrivals.next(within: nil) {
            guard let handler = state.withLock({ $0.handler }), handler(number) else { return number }
        }
        return nil
    }

    /// Ends the process after its work.
    package static func end(with status: Int32) -> Never {
        guard let number = state.withLock({ $0.signal }) else { exit(status) }
        Leftovers.removeAll()
        exitNow(after: number)
    }

    /// Exits without the usual exit handlers, because other threads are still working.
    private static func exitNow(after number: Int32) -> Never { _exit(128 + number) }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Unblocks signals on this thread. Swift's threads block them.
    private static func letThrough(_ numbers: [Int32]) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}

/// Carries signal numbers from their handler, which may do almost nothing, to a thread.
private struct SignalPipe: Sendable {
    private let reading, writing: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Called by a signal handler, so it only writes, and preserves `errno`.
    func put(_ number: Int32) {
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(writing, &byte, 1)
        errno = before
    }

    /// Waits for a signal. Blocks.
    /// - Parameter limit: the maximum time; `nil` waits forever.
    func next(within limit: Duration?) -> Int32? {
        let end = limit.map { ContinuousClock.now + $0 }
        while true {
            let left = end.map { max(.zero, $0 - .now) }
            var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            let count = poll(&waiting, 1, left.map { Int32($0.inSeconds * 1_000) } ?? -1)
            if count == 0 { return nil }
            var byte: UInt8 = 0
            if count > 0, read(reading, &byte, 1) == 1 { return Int32(byte) }
            if count < 0, errno != EINTR { return nil }
        }
    }
}
