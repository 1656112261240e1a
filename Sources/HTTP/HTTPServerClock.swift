/// How a server tells the time, for deadlines and for stopping; a test brings its own.
public struct HTTPServerClock: Sendable {
    /// Time since an arbitrary start; never goes back.
    public let now: @Sendable () -> Duration
    /// Waits for a time; throws when the task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: time since an arbitrary start.
    ///   - sleep: waits until `now` has grown by a duration.
    public init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The machine's clock.
    public static let system: HTTPServerClock = {
        let start = ContinuousClock.now
        return HTTPServerClock(now: { start.duration(to: .now) }, sleep: { try await ContinuousClock().sleep(for: $0) })
    }()
}
