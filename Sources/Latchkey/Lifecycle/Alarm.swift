import LatchkeyCore

/// Rings once, at a time that can be changed. Silent while the app is suspended; an overdue alarm rings once on resuming.
final class Alarm: Sendable {
    typealias Ring = @Sendable () async -> Void

    private struct State {
        var due: Duration?
        var ring: Ring?
        var isSuspended = false
        var suspensions = 0
        /// Counts changes, so that an alarm that was moved while its task woke up stays silent.
        var number = 0
        var task: Task<Void, Never>?
    }

    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    init(_ timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    deinit { clear() }

    /// The number of suspensions of the alarm.
    var suspensions: Int { state.withLock { $0.suspensions } }

    /// Sets the alarm, replacing the previous one; a time in the past rings immediately.
    /// - Parameter due: by the timekeeper's uptime.
    func set(at due: Duration, _ ring: @escaping Ring) {
        change { state in
            state.due = due
            state.ring = ring
        }
    }

    /// Clears the alarm.
    func clear() {
        change { state in
            state.due = nil
            state.ring = nil
        }
    }

    /// Keeps the alarm silent until `resume()`.
    func suspend() {
        change { state in
            guard !state.isSuspended else { return }
            state.isSuspended = true
            state.suspensions += 1
        }
    }

    /// Lets the alarm ring again; immediately if it is overdue.
    func resume() {
        change { $0.isSuspended = false }
    }

    /// Changes the state, and replaces the waiting task to match it.
    ///
    /// The old task is cancelled outside the lock: cancelling calls the timekeeper, which may be the app's.
    private func change(_ body: (inout State) -> Void) {
        let replaced = state.withLock { state in
            body(&state)
            defer { arm(&state) }
            return state.task
        }
        replaced?.cancel()
    }

    /// Starts a new task that waits; a replaced one finds another number when it wakes up.
    private func arm(_ state: inout State) {
        state.task = nil
        state.number += 1
        guard let due = state.due, !state.isSuspended else { return }
        state.task = startTask { [weak self, timekeeper, number = state.number] in
            guard (try? await timekeeper.sleep(until: due)) != nil else { return }
            await self?.take(number)?()
        }
    }

    /// Takes the closure of the alarm with a number; `nil` if another was set since.
    private func take(_ number: Int) -> Ring? {
        state.withLock { state in
            guard state.number == number, !state.isSuspended else { return nil }
            defer {
                state.due = nil
                state.ring = nil
            }
            return state.ring
        }
    }
}
