public import Foundation

/// The time, as a parameter: the date, a clock that never jumps, and a way to wait.
///
/// Two readings, because a date can be set back and forth by the user or the network while playback goes on.
public protocol Timekeeper: Sendable {
    /// The date and time of day. May jump.
    var date: Date { get }
    /// Time since an arbitrary start, time asleep included. Never goes back.
    var uptime: Duration { get }
    /// Waits until `uptime` has grown by a duration.
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
    /// Waits until `uptime` has reached a time; not at all where it has passed.
    ///
    /// Time that passes before the wait begins counts, unlike with a duration that was worked out earlier.
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until uptime: Duration) async throws
}

extension Timekeeper {
    public func sleep(until uptime: Duration) async throws { try await sleep(for: uptime - self.uptime) }
}

/// The machine's own clocks.
public struct SystemTimekeeper: Timekeeper {
    private static let start = ContinuousClock.now

    /// Makes a timekeeper; all of them read the same clocks.
    public init() {}

    public var date: Date { Date() }
    public var uptime: Duration { Self.start.duration(to: .now) }
    public func sleep(for duration: Duration) async throws {
        try await ContinuousClock().sleep(for: duration)
    }
}

extension Duration {
    /// The duration in seconds, with a fraction.
    public var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// The duration in milliseconds, with a fraction.
    public var inMilliseconds: Double { inSeconds * 1_000 }
}
