import LatchkeyCore

/// How much work may wait, and for how long.
///
/// Source: `Documentation/LicenseServer.md` §9.1.
package struct AdmissionRules: Sendable, Hashable {
    /// How long work should wait at most. It says how much may wait: as much as the threads do in this time.
    package let target: Duration
    /// For how long the oldest work may have waited beyond the target until the newest is served first.
    package let interval: Duration
    /// How long work may wait while the newest is served first.
    package let patience: Duration
    /// How long work may wait in any case: by then its client has gone.
    package let deadline: Duration
    /// How long a piece of work takes, before that is measured.
    package let expectedTime: Duration
    /// The most work that may wait, whatever is measured.
    package let most: Int

    /// - Parameters:
    ///   - target: how long work should wait at most. Defaults to 25 ms.
    ///   - interval: how long it may be more until that is too long. Defaults to 100 ms.
    ///   - patience: how long work may wait then. Defaults to 75 ms.
    ///   - deadline: how long work may wait in any case. Defaults to 10 s.
    ///   - expectedTime: how long a piece takes, before that is measured. Defaults to 1 ms, an RSA operation of 2,048 bits.
    ///   - most: the most work that may wait. Defaults to 4,096.
    package init(
        target: Duration = .milliseconds(25), interval: Duration = .milliseconds(100),
        patience: Duration = .milliseconds(75), deadline: Duration = .seconds(10),
        expectedTime: Duration = .milliseconds(1), most: Int = 4_096
    ) {
        self.target = target
        self.interval = interval
        self.patience = patience
        self.deadline = deadline
        self.expectedTime = max(expectedTime, .microseconds(1))
        self.most = max(0, most)
    }
}

/// Why a piece of work was not done.
package struct AdmissionRefusal: Error, Hashable {
    package let lane: AdmissionLane
    package let why: ShedReason
    /// After how many whole seconds to come again, 1 to 5: the value of `Retry-After`.
    package let retryAfter: Int
}
