package import LatchkeyCore

/// When something was last seen to work: a required store, for example.
package final class LastSeen: Sendable {
    private let timekeeper: any Timekeeper
    private let last = Locked<Duration?>(nil)

    package init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    /// It works now.
    package func seen() {
        let now = timekeeper.uptime
        last.withLock { $0 = now }
    }

    /// A check that fails if it was never seen, or too long ago.
    /// - Parameters:
    ///   - name: the check's name.
    ///   - limit: how long ago it may be. Defaults to 10 s.
    package func check(_ name: String, within limit: Duration = .seconds(10)) -> Readiness.Check {
        Readiness.Check(name) { [self] in
            guard let last = last.withLock({ $0 }) else { return "never seen" }
            let age = timekeeper.uptime - last
            return age <= limit ? nil : "last seen \(age.inWords) ago"
        }
    }
}

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
