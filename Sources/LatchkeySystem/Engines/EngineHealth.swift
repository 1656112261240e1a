package import Foundation
package import LatchkeyCore

/// An outside engine's state for each kind of work: since when, and its last error. The one source of readiness, metrics, console and log.
///
/// An engine that was never asked counts as answering. Only an answer to the same kind of work ends an outage.
package final class EngineHealth: Sendable {
    /// The state of the engine, or of one kind of work.
    package struct Standing: Sendable, Equatable {
        /// Whether it counts as away.
        package internal(set) var isAway = false
        /// When that began, by the machine's clock; `nil` before the first answer.
        package internal(set) var since: Date?
        /// Why it did not answer the last time that it did not; `nil` if it always did.
        package internal(set) var lastError: StoreError?
        /// When that was, by the machine's clock.
        package internal(set) var failed: Date?
        /// When it last answered, by the uptime clock; `nil` if it never did.
        package internal(set) var answered: Duration?
        /// When it last answered, by the machine's clock; `nil` if it never did.
        package internal(set) var lastAnswer: Date?

        /// The combined state of several: away if any of them is.
        fileprivate static func of(_ all: some Collection<Standing>) -> Standing {
            let away = all.filter(\.isAway)
            let failed = (away.isEmpty ? Array(all) : away).max {
                ($0.failed ?? .distantPast) < ($1.failed ?? .distantPast)
            }
            return Standing(
                isAway: !away.isEmpty,
                since: away.isEmpty ? all.compactMap(\.since).max() : away.compactMap(\.since).min(),
                lastError: failed?.lastError, failed: failed?.failed,
                answered: all.compactMap(\.answered).max(), lastAnswer: all.compactMap(\.lastAnswer).max())
        }
    }

    /// An engine's state, in one word. The raw values are stable.
    package enum Status: String, Sendable, Hashable {
        /// It answered within the last ten seconds.
        case answers
        /// No answer came within the last ten seconds, because nothing was asked.
        case quiet
        /// It does not do all of its work.
        case away
    }

    /// Whether a call may ask.
    package enum Leave: Sendable {
        case ask(CircuitBreaker.Permit)
        /// It is time to ask an engine that is left alone, separately from the call, which does not wait for it.
        case probe(CircuitBreaker.Permit)
        case none
    }

    private struct Kept {
        var breaker: CircuitBreaker
        var standing = Standing()
    }

    /// For how long an answer says that an engine answers.
    package static let freshness = Duration.seconds(10)

    /// The engine's role, such as `keyStore`. Names are stable.
    package let name: String
    /// The engine's kind, such as `redis`.
    package let engine: String
    /// The tenant; `nil` for an engine that all tenants share.
    package let tenant: String?
    /// The region; `nil` for an engine in one place.
    package let region: String?
    let timekeeper: any Timekeeper
    private let limits: CircuitBreaker.Limits
    private let state = Locked<[EngineWork: Kept]>([:])
    private let listeners = Locked<[@Sendable (EngineOperation, Standing) -> Void]>([])

    /// - Parameters:
    ///   - name: the engine's role.
    ///   - engine: its kind. Defaults to nothing.
    ///   - tenant: its tenant. Defaults to all tenants.
    ///   - region: its region. Defaults to one place.
    ///   - limits: when it counts as away and is left alone. Defaults to its first failure.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(
        _ name: String, engine: String = "", tenant: String? = nil, region: String? = nil,
        limits: CircuitBreaker.Limits = .immediate, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        (self.name, self.engine, self.tenant, self.region) = (name, engine, tenant, region)
        (self.limits, self.timekeeper) = (limits, timekeeper)
    }

    /// Whether the engine is part of this process, and never away.
    var isEmbedded: Bool { limits.patience == nil }

    /// Calls a closure for each kind of work for which the engine is away, now and later, and when it is back.
    /// - Parameter heard: called on any thread; must not wait.
    package func whenChanged(_ heard: @escaping @Sendable (EngineOperation, Standing) -> Void) {
        listeners.withLock { $0.append(heard) }
        for (operation, standing) in standings where standing.isAway { heard(operation, standing) }
    }

    /// The state now, of all kinds of work together.
    package var standing: Standing { state.withLock { .of($0.values.map(\.standing)) } }

    /// The state of each kind of work that was tried.
    package var standings: [EngineOperation: Standing] {
        state.withLock { state in
            Dictionary(grouping: state, by: \.key.operation).mapValues { .of($0.map(\.value.standing)) }
        }
    }

    /// Whether the engine is away for any kind of work.
    package var isAway: Bool { state.withLock { $0.values.contains(where: \.standing.isAway) } }

    /// Whether the engine is away for a kind of work.
    package func isAway(for operation: EngineOperation) -> Bool {
        state.withLock { $0.contains { $0.key.operation == operation && $0.value.standing.isAway } }
    }

    /// Whether the engine is away for a piece of work.
    func isAway(for work: EngineWork) -> Bool { state.withLock { $0[work]?.standing.isAway ?? false } }

    /// The work that failed when it was last tried, or has to be seen to go well for a while.
    var inDoubt: [EngineWork] { state.withLock { $0.filter(\.value.breaker.isInDoubt).map(\.key) } }

    /// Whether no call waits for a kind of work.
    package func isLeftAlone(for work: EngineWork) -> Bool {
        state.withLock { $0[work].map { $0.breaker.phase != .closed } ?? false }
    }

    /// Whether an engine that is left alone is being asked whether it is back.
    package var isAsking: Bool { state.withLock { $0.values.contains { $0.breaker.phase == .halfOpen } } }

    /// Its state now.
    package var status: Status { isAway ? .away : isQuiet(for: Self.freshness) ? .quiet : .answers }

    /// Whether no answer has come for a while.
    /// - Parameter operation: for this kind of work. Defaults to any.
    package func isQuiet(for time: Duration, _ operation: EngineOperation? = nil) -> Bool {
        let now = timekeeper.uptime
        return state.withLock { state in
            let answers = state.filter { operation == nil || $0.key.operation == operation }
            return answers.compactMap(\.value.standing.answered).max().map { now - $0 >= time } ?? true
        }
    }

    /// Whether a call may ask.
    package func leave(for work: EngineWork) -> Leave {
        let now = timekeeper.uptime
        return state.withLock { state in
            guard let permit = state[work, default: Kept(breaker: .init(limits))].breaker.permit(at: now) else {
                return .none
            }
            return state[work]?.breaker.phase == .closed ? .ask(permit) : .probe(permit)
        }
    }

    /// Leave to ask; `nil` while another caller asks an engine that is left alone, or it is too early for that.
    package func permit(for work: EngineWork) -> CircuitBreaker.Permit? {
        switch leave(for: work) {
        case .ask(let permit), .probe(let permit): permit
        case .none: nil
        }
    }

    /// Takes back leave to ask from a cancelled caller.
    func giveBack(_ permit: CircuitBreaker.Permit, for work: EngineWork) {
        state.withLock { $0[work]?.breaker.gaveUp(permit) }
    }

    /// Notes the outcome of a piece of work.
    /// - Parameter error: why it failed; `nil` for an answer. A request that does not fit, and a damaged record, are answers.
    func note(_ error: StoreError?, for work: EngineWork, _ permit: CircuitBreaker.Permit) {
        let (uptime, date) = (timekeeper.uptime, timekeeper.date)
        let news: Standing? = state.withLock { state in
            var kept = state[work] ?? Kept(breaker: .init(limits))
            if let error, error.kind != .unfit, error.kind != .damaged {
                (kept.standing.lastError, kept.standing.failed) = (error, date)
                kept.breaker.failed(permit, isLate: error.isLate, at: uptime)
            } else {
                (kept.standing.answered, kept.standing.lastAnswer) = (uptime, date)
                kept.breaker.answered(permit, at: uptime)
            }
            let isNews = kept.standing.isAway != kept.breaker.isAway
            if isNews || kept.standing.since == nil { kept.standing.since = date }
            kept.standing.isAway = kept.breaker.isAway
            state[work] = kept
            // While another part is away, nothing changes for the whole.
            let isAlone = !state.contains {
                $0.key.operation == work.operation && $0.key != work && $0.value.standing.isAway
            }
            return isNews && isAlone ? kept.standing : nil
        }
        guard let news else { return }
        for heard in listeners.withLock({ $0 }) { heard(work.operation, news) }
    }

    /// An error that says that the engine is away, for callers that do not wait for it.
    package func absence(for operation: EngineOperation) -> StoreError {
        let last = standings[operation]?.lastError
        return StoreError(
            last?.kind ?? .unavailable, engine,
            reason: last.map { "The store \(operation.words.away): \($0.reason)" }
                ?? "The store \(operation.words.away).",
            remedy: last?.remedy)
    }
}
