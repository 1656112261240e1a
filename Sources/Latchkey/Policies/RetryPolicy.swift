import LatchkeyCore

/// How often and how soon a failed request is retried, and how long everything may take.
///
/// Only errors that may pass are retried: no reply, 408, 425, 429, 5xx, a reply that broke off. A refusal is final, and answers a player
/// that immediately asks again.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first. Defaults to 3.
    public var maximumAttempts: Int
    /// The wait before the second attempt. Defaults to 500 ms. It doubles with every attempt.
    public var firstWait: Duration
    /// The longest wait. Defaults to 8 s. If a service asks for more by `Retry-After`, there is no further attempt.
    public var longestWait: Duration
    /// The random share of a wait, 0 to 1. Defaults to 0.5. It spreads clients that failed at the same time.
    public var jitter: Double
    /// The time limit of one attempt, including the app's credentials and all redirects. Defaults to 10 s.
    public var attemptTimeout: Duration
    /// The time limit for a key, or a certificate, from request to answer. Defaults to 30 s, which is below players' own limits.
    public var deadline: Duration
    /// How long a service's final refusal of a key answers the same player without another license request and another report, because
    /// players ask up to eight times. Defaults to 10 s; zero asks the service each time. `ContentKeyLoader.forgetRefusals(of:)` ends it sooner.
    public var refusalMemory: Duration

    /// Makes a policy. Each parameter is the property of its name.
    public init(
        maximumAttempts: Int = 3, firstWait: Duration = .milliseconds(500), longestWait: Duration = .seconds(8),
        jitter: Double = 0.5, attemptTimeout: Duration = .seconds(10), deadline: Duration = .seconds(30),
        refusalMemory: Duration = .seconds(10)
    ) {
        self.maximumAttempts = maximumAttempts
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.jitter = jitter
        self.attemptTimeout = attemptTimeout
        self.deadline = deadline
        self.refusalMemory = refusalMemory
    }

    /// One attempt only.
    public static let never = RetryPolicy(maximumAttempts: 1)
}

extension RetryPolicy {
    /// The wait after a failed attempt; `nil` if there is no further attempt.
    func wait(
        after attempt: Int, serviceAsksFor asked: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        if let asked { return asked <= longestWait ? asked : nil }
        let full = min(longestWait.clamped, firstWait.clamped * (1 << min(max(attempt, 1) - 1, 16)))
        let share = jitter > 0 ? min(jitter, 1) : 0
        return full * (1 - share * Double.random(in: 0...1, using: &generator))
    }
}
