public import Foundation
public import LatchkeyCore

/// A timekeeper whose time stands still until a test moves it.
public final class ManualTimekeeper: Timekeeper {
    private struct Sleeper {
        let wakeUp: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let wakeUp: Duration?
        let served: Promise<Void, Never>
    }

    private struct State {
        var date: Date
        var uptime = Duration.zero
        var sleepers: [UInt64: Sleeper] = [:]
        var cancelled: Set<UInt64> = []
        var next: UInt64 = 0
        var watchers: [Watcher] = []
    }

    private let state: Locked<State>

    /// - Parameter date: the date to begin with. Defaults to 2026-01-01T00:00:00Z.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        state = Locked(State(date: date))
    }

    public var date: Date { state.withLock { $0.date } }
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The number of tasks that wait for time to pass.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The number of tasks that wait for exactly this much time to pass from now.
    package func sleeperCount(for duration: Duration) -> Int {
        state.withLock { state in
            let wakeUp = state.uptime + duration
            return state.sleepers.values.count { $0.wakeUp == wakeUp }
        }
    }

    public func sleep(for duration: Duration) async throws { try await sleep { $0 + duration } }

    public func sleep(until uptime: Duration) async throws { try await sleep { _ in uptime } }

    /// - Parameter wakeUp: says when, of the uptime at which the wait begins.
    private func sleep(until wakeUp: @escaping @Sendable (Duration) -> Duration) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add(id, wakeUp, $0) }
        } onCancel: {
            cancel(id)
        }
    }

    /// Moves time forward and wakes whoever is due, in the order in which they are due.
    /// - Returns: How many tasks were due.
    @discardableResult public func advance(by duration: Duration) -> Int {
        let due = state.withLock { state in
            state.uptime += duration
            state.date += duration.inSeconds
            let now = state.uptime
            let due = state.sleepers.filter { $0.value.wakeUp <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.wakeUp, $0.key) < ($1.value.wakeUp, $1.key) }.map(\.value.continuation)
        }
        for continuation in due { continuation.resume() }
        return due.count
    }

    /// Sets the date without letting time pass, as a user or the network does.
    public func setDate(_ date: Date) { state.withLock { $0.date = date } }

    /// Waits until at least one task waits for time to pass, or the waiting task is cancelled. The deadline of a key request is such a task:
    /// to meet a retry or a renewal, use `untilSomeoneSleeps(for:)`, or a `VirtualTime`.
    public func untilSomeoneSleeps() async { await untilSomeoneSleeps(until: nil) }

    /// Waits until a task waits for exactly this much time to pass from now, or the waiting task is cancelled.
    public func untilSomeoneSleeps(for duration: Duration) async { await untilSomeoneSleeps(until: uptime + duration) }

    private func untilSomeoneSleeps(until wakeUp: Duration?) async {
        let served = Promise<Void, Never>()
        let isReady = state.withLock { state in
            let isReady = state.sleepers.values.contains { wakeUp == nil || $0.wakeUp == wakeUp }
            if !isReady { state.watchers.append(Watcher(wakeUp: wakeUp, served: served)) }
            return isReady
        }
        if !isReady { try? await served.value }
        state.withLock { $0.watchers.removeAll { $0.served === served } }
    }

    private func add(
        _ id: UInt64, _ wakeUp: (Duration) -> Duration, _ continuation: CheckedContinuation<Void, any Error>
    ) {
        enum Outcome { case waits([Watcher]), isDue, isCancelled }
        let outcome: Outcome = state.withLock { state in
            if state.cancelled.remove(id) != nil { return .isCancelled }
            let wakeUp = wakeUp(state.uptime)
            if wakeUp <= state.uptime { return .isDue }
            state.sleepers[id] = Sleeper(wakeUp: wakeUp, continuation: continuation)
            let isServed = { (watcher: Watcher) in watcher.wakeUp == nil || watcher.wakeUp == wakeUp }
            let served = state.watchers.filter(isServed)
            state.watchers.removeAll(where: isServed)
            return .waits(served)
        }
        switch outcome {
        case .waits(let watchers): for watcher in watchers { watcher.served.resolve(.success(())) }
        case .isDue: continuation.resume()
        case .isCancelled: continuation.resume(throwing: CancellationError())
        }
    }

    private func cancel(_ id: UInt64) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: id)
            if sleeper == nil { state.cancelled.insert(id) }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
