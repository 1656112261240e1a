public import Foundation

/// The time as a parameter: a date, a monotonic clock, and a way to wait.
///
/// There are two clocks because the user or the network may change the date during playback.
public protocol Timekeeper: Sendable {
    /// The date and time of day. May jump.
    var date: Date { get }
    /// Time since an arbitrary start, including sleep. Never decreases.
    var uptime: Duration { get }
    /// Waits until `uptime` has advanced by a duration.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws
    /// Waits until `uptime` reaches a time. Returns immediately if it has passed.
    ///
    /// Unlike a wait for a duration, it counts time that passes before the wait begins.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(until uptime: Duration) async throws
}

extension Timekeeper {
    public func sleep(until uptime: Duration) async throws { try await sleep(for: uptime - self.uptime) }
}

/// The machine's own clocks.
public struct SystemTimekeeper: Timekeeper {
    private static let start = ContinuousClock.now

    /// Makes a timekeeper. All of them read the same clocks.
    public init() {}

    public var date: Date { Date() }
    public var uptime: Duration { Self.start.duration(to: .now) }
    public func sleep(for duration: Duration) async throws {
        // A clock overflows if a very long external wait, such as a lease of 2^63 seconds, is added to it.
        try await ContinuousClock().sleep(for: duration.clamped)
    }
}

extension Duration {
    /// The duration in seconds, with a fraction.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// The duration in milliseconds, with a fraction.
    package var inMilliseconds: Double { inSeconds * 1_000 }

    /// The duration as text: `250 ms`, `10 s`, `1.5 s`.
    package var inWords: String {
        let milliseconds = (inSeconds * 1_000).rounded()
        guard milliseconds >= 1_000 else { return "\(milliseconds.plain) ms" }
        return "\((milliseconds / 1_000).plain) s"
    }
}

extension Double {
    /// The number, without a fraction of zero.
    fileprivate var plain: String { self == rounded() && magnitude < 1e15 ? "\(Int64(self))" : "\(self)" }
}
