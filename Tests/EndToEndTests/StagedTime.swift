import Foundation
import LatchkeyCore

/// A clock for tests without waiting. Waits between attempts end immediately and are only counted; timers, such as timeouts, fire
/// on the test's request.
final class StagedTime: Timekeeper {
    private struct State {
        var uptime = Duration.zero
        var next = 0
        var running: [Int: (duration: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var alreadyExpired: [Duration: Int] = [:]
        /// Durations whose timers fire as soon as they begin.
        var passed: Set<Duration> = []
    }

    private let start = Date()
    private let timers: Set<Duration>
    private let state = Locked(State())

    /// The longest wait between two attempts. Longer durations, such as a session's heartbeat interval, are timers.
    private static let longestWait = Duration.seconds(8)

    /// - Parameter timers: the durations that are timers rather than waits.
    init(timers: Set<Duration>) { self.timers = timers }

    var date: Date { start + uptime.inSeconds }
    var uptime: Duration { state.withLock { $0.uptime } }

    func sleep(for duration: Duration) async throws {
        guard duration > Self.longestWait || timers.contains(duration) else {
            return state.withLock { $0.uptime += duration }
        }
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    guard state.cancelled.remove(id) == nil else { return .failure(CancellationError()) }
                    if state.passed.contains(duration) { return .success(()) }
                    guard state.alreadyExpired[duration, default: 0] == 0 else {
                        state.alreadyExpired[duration, default: 0] -= 1
                        return .success(())
                    }
                    state.running[id] = (duration, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let timer = state.withLock { state in
                let timer = state.running.removeValue(forKey: id)
                if timer == nil { state.cancelled.insert(id) }
                return timer
            }
            timer?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Fires the latest timer with a duration, or the next one if none is running. The clock advances by that duration.
    func expire(_ duration: Duration) {
        let timer = state.withLock { state in
            state.uptime += duration
            let latest = state.running.filter { $0.value.duration == duration }.keys.max()
            if latest == nil { state.alreadyExpired[duration, default: 0] += 1 }
            return latest.flatMap { state.running.removeValue(forKey: $0) }
        }
        timer?.continuation.resume()
    }

    /// Fires all timers with a duration, and from now on each as it begins: on a busy machine, a service may be asked before the timer of
    /// that request runs. The clock advances by that duration.
    func pass(_ duration: Duration) {
        let timers = state.withLock { state in
            state.uptime += duration
            state.passed.insert(duration)
            let due = state.running.filter { $0.value.duration == duration }
            for id in due.keys { state.running[id] = nil }
            return due.sorted { $0.key < $1.key }.map(\.value)
        }
        for timer in timers { timer.continuation.resume() }
    }
}

/// The clocks of a service. Its delays last until the client gives up.
struct ServiceTime: Timekeeper {
    /// Called when a delay begins.
    let onDelay: @Sendable () -> Void

    var date: Date { Date() }
    var uptime: Duration { SystemTimekeeper().uptime }

    func sleep(for duration: Duration) async throws {
        onDelay()
        // Ends when the host stops, which cancels the exchange.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        defer { withExtendedLifetime(continuation) {} }
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
