package import LatchkeyCore

/// For how long something has been at its limit without a break: the pool, for example.
package final class Saturation: Sendable {
    private let timekeeper: any Timekeeper
    private let since = Locked<Duration?>(nil)

    package init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    /// Says whether it is at its limit now. Say it whenever that may have changed.
    package func note(isFull: Bool) {
        let now = timekeeper.uptime
        since.withLock { $0 = isFull ? $0 ?? now : nil }
    }

    /// A check that fails if it has been at its limit for too long.
    /// - Parameters:
    ///   - name: the check's name.
    ///   - limit: how long it may be. Defaults to 30 s.
    package func check(_ name: String, for limit: Duration = .seconds(30)) -> Readiness.Check {
        Readiness.Check(name) { [self] in
            guard let since = since.withLock({ $0 }) else { return nil }
            let time = timekeeper.uptime - since
            return time < limit ? nil : "full for \(time.inWords)"
        }
    }
}
