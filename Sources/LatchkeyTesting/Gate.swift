import LatchkeyCore

/// Blocks waiting tasks until a test opens it, or until a number of tasks wait. Then it stays open.
package final class Gate: Sendable {
    private let opened = Promise<Void, Never>()
    private let arrived = Promise<Void, Never>()
    private let arrivals = Locked(0)
    private let needed: Int

    /// - Parameter needed: the number of tasks that open the gate by waiting at it. Defaults to no number.
    package init(opensAt needed: Int = .max) { self.needed = needed }

    /// Whether the gate is open.
    package var isOpen: Bool { opened.outcome != nil }

    /// Opens the gate for all tasks that wait, and for all that arrive later.
    package func open() { opened.resolve(.success(())) }

    /// Waits until the gate is open. A cancellation does not end it: it represents code that ignores cancellation.
    package func wait() async {
        let number = arrivals.withLock { count in
            count += 1
            return count
        }
        arrived.resolve(.success(()))
        if number >= needed { open() }
        await withCheckedContinuation { waiter in opened.whenResolved { _ in waiter.resume() } }
    }

    /// Waits until a task has arrived at the gate, or the waiting task is cancelled.
    package func untilSomeoneArrives() async { try? await arrived.value }
}
