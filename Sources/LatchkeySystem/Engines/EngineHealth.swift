package import Foundation
package import LatchkeyCore

/// Whether an outside engine answers, since when, and what it said last. The one place that readiness, metrics, console and log ask.
///
/// An engine that nobody has asked yet counts as answering.
package final class EngineHealth: Sendable {
    /// What is known of the engine.
    package struct Standing: Sendable, Equatable {
        /// Whether its last answer was an answer.
        package internal(set) var isAway = false
        /// When that began, by the machine's clock; `nil` before the first answer.
        package internal(set) var since: Date?
        /// Why it did not answer the last time that it did not; `nil` if it always did.
        package internal(set) var lastError: StoreError?
        /// When it last answered, by the uptime clock; `nil` if it never did.
        package internal(set) var answered: Duration?
        /// When it last answered, by the machine's clock; `nil` if it never did.
        package internal(set) var lastAnswer: Date?
    }

    /// How an engine stands, in one word. The raw values are stable.
    package enum Word: String, Sendable, Hashable {
        /// It answered within the last ten seconds.
        case answers
        /// Nobody had an answer within the last ten seconds, because nobody asked.
        case quiet
        /// It did not answer when it was last asked.
        case away
    }

    /// For how long an answer says that an engine answers.
    package static let freshness = Duration.seconds(10)

    /// What the engine is for, such as `keyStore`. Names are stable.
    package let name: String
    /// What it is, such as `redis`.
    package let engine: String
    /// Whose it is; `nil` for what all tenants share.
    package let tenant: String?
    /// Where it is; `nil` for what is in one place.
    package let region: String?
    private let timekeeper: any Timekeeper
    private let state = Locked(Standing())
    private let listeners = Locked<[@Sendable (Standing) -> Void]>([])

    /// - Parameters:
    ///   - name: what the engine is for.
    ///   - engine: what it is. Defaults to nothing.
    ///   - tenant: whose it is. Defaults to all tenants'.
    ///   - region: where it is. Defaults to one place.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(
        _ name: String, engine: String = "", tenant: String? = nil, region: String? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.region = region
        self.name = name
        self.engine = engine
        self.tenant = tenant
        self.timekeeper = timekeeper
    }

    /// Has somebody told when the engine goes away and when it is back, and at once how it stands.
    /// - Parameter heard: called on any thread; must not wait.
    package func whenChanged(_ heard: @escaping @Sendable (Standing) -> Void) {
        listeners.withLock { $0.append(heard) }
        heard(standing)
    }

    private func tell(_ news: Standing?) {
        guard let news else { return }
        for heard in listeners.withLock({ $0 }) { heard(news) }
    }

    /// What is known now.
    package var standing: Standing { state.withLock { $0 } }

    /// Whether the engine did not answer when it was last asked.
    package var isAway: Bool { state.withLock { $0.isAway } }

    /// How it stands now.
    package var word: Word { isAway ? .away : isQuiet(for: Self.freshness) ? .quiet : .answers }

    /// Whether nobody has had an answer for a while, so that it is time to ask.
    package func isQuiet(for time: Duration) -> Bool {
        let now = timekeeper.uptime
        return state.withLock { state in state.answered.map { now - $0 >= time } ?? true }
    }

    /// The engine answered.
    package func note() {
        let (uptime, date) = (timekeeper.uptime, timekeeper.date)
        let news: Standing? = state.withLock { state in
            (state.answered, state.lastAnswer) = (uptime, date)
            guard state.isAway || state.since == nil else { return nil }
            let wasAway = state.isAway
            (state.isAway, state.since) = (false, date)
            return wasAway ? state : nil
        }
        tell(news)
    }

    /// The engine failed. What says nothing of the engine does not count: a request that does not fit, a store that is full.
    package func note(_ error: StoreError) {
        guard error.kind != .unfit, error.kind != .full else { return note() }
        let date = timekeeper.date
        let news: Standing? = state.withLock { state in
            state.lastError = error
            guard !state.isAway else { return nil }
            (state.isAway, state.since) = (true, date)
            return state
        }
        tell(news)
    }

    /// An error that says that the engine is away, for those who do not wait for it.
    package func absence(of engine: String) -> StoreError {
        let last = standing.lastError
        return StoreError(
            last?.kind ?? .unavailable, engine,
            reason: last.map { "The store does not answer: \($0.reason)" } ?? "The store does not answer.",
            remedy: last?.remedy)
    }
}
