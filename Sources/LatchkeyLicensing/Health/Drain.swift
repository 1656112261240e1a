package import LatchkeyCore

/// Stops a node by its plan.
///
/// Call `signal()` for SIGTERM and SIGINT, and wait for `end()` before the process exits.
package final class Drain: Sendable {
    private let plan: Locked<DrainPlan>
    private let timekeeper: any Timekeeper
    private let began: @Sendable (DrainPlan.Phase) -> Void
    private let finish: @Sendable () async -> Void
    private let ended = Promise<DrainPlan.End, Never>()

    /// - Parameters:
    ///   - plan: how long each phase takes.
    ///   - timekeeper: the clock.
    ///   - began: called when a phase begins, to inform the log and systemd.
    ///   - finish: stops accepting, and returns once everything is answered, such as `HTTPServer.stop(within:)`.
    package init(
        _ plan: DrainPlan = DrainPlan(), timekeeper: any Timekeeper = SystemTimekeeper(),
        began: @escaping @Sendable (DrainPlan.Phase) -> Void = { _ in }, finish: @escaping @Sendable () async -> Void
    ) {
        self.plan = Locked(plan)
        self.timekeeper = timekeeper
        self.began = began
        self.finish = finish
    }

    /// The first call begins to drain; the second one ends the drain immediately.
    package func signal() { take(.signal) }

    /// Waits until the process should end, and returns how it ended.
    package func end() async -> DrainPlan.End {
        await withCheckedContinuation { waiter in ended.whenResolved { waiter.resume(with: $0) } }
    }

    /// A check that fails from the first signal on.
    package var check: Readiness.Check {
        Readiness.Check("draining") { [self] in
            plan.withLock { $0.phase } == .running ? nil : "the node is shutting down"
        }
    }

    private func take(_ event: DrainPlan.Event) {
        let now = timekeeper.uptime
        let (phase, wakeUp) = plan.withLock { ($0.take(event, at: now), $0.wakeUp) }
        guard let phase else { return }
        began(phase)
        if case .ended(let how) = phase { ended.resolve(.success(how)) }
        if case .finishing = phase {
            startTask { [self] in
                await finish()
                take(.idle)
            }
        }
        if let wakeUp {
            startTask { [self] in
                try? await timekeeper.sleep(until: wakeUp)
                take(.time)
            }
        }
    }
}
