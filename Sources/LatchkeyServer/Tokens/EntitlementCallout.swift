import LatchkeyCore

/// Decides by asking the operator's service whether a user may have an asset. For services that cannot put that into a token.
///
/// An answer counts for a few seconds for this user and asset, and all who ask for it meanwhile share one question. The service has
/// a second; one that fails again and again is left alone for a while. What it said before counts on while it does not answer, for an
/// hour. One callout per tenant.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package final class EntitlementCallout<Grant: Sendable>: Sendable {
    /// What the service says.
    package enum Answer: Sendable {
        /// Yes, and what comes with it.
        case granted(Grant)
        case denied
    }

    /// What is to be done.
    package enum Verdict: Sendable {
        /// The service says yes.
        case granted(Grant)
        /// The service does not answer, and the rule for that allows it.
        case unchecked
        /// No license.
        case refused(LicenseRefusal)
    }

    private struct State {
        var breaker: CircuitBreaker
        var answers = BoundedDictionary<EntitlementQuestion, (answer: Answer, until: Duration)>(limit: 10_000)
        var asking: [EntitlementQuestion: Promise<Answer, any Error>] = [:]
    }

    private let state: Locked<State>
    private let limits: EntitlementLimits
    private let outage: OutageRule
    private let timekeeper: any Timekeeper
    private let transport: @Sendable (EntitlementQuestion) async throws -> Answer

    /// - Parameters:
    ///   - limits: times, and when the breaker moves. Defaults to those of `EntitlementLimits`.
    ///   - outage: what happens while the service does not answer. How long the license may last then, `decide` finds by the same rule,
    ///     once the facts have `Engine.callout` among the engines that are out of service.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - transport: asks the service. It throws where the service gives no answer; a no is an answer.
    package init(
        _ limits: EntitlementLimits = EntitlementLimits(), outage: OutageRule,
        timekeeper: any Timekeeper = SystemTimekeeper(),
        transport: @escaping @Sendable (EntitlementQuestion) async throws -> Answer
    ) {
        state = Locked(State(breaker: CircuitBreaker(limits.breaker)))
        self.limits = limits
        self.outage = outage
        self.timekeeper = timekeeper
        self.transport = transport
    }

    /// Where the breaker stands, for a metric.
    package var phase: CircuitBreaker.Phase { state.withLock { $0.breaker.phase } }

    /// Asks, or repeats an answer of the last seconds.
    /// - Throws: `CancellationError` if the waiting task is cancelled; the question goes on for the others.
    package func verdict(on question: EntitlementQuestion) async throws -> Verdict {
        let step = nextStep(question)
        let promise: Promise<Answer, any Error>
        switch step {
        case .known(let answer): return Self.verdict(answer)
        case .closed: return unanswered(question)
        case .wait(let asking): promise = asking
        case .ask(let asking, let permit):
            promise = asking
            startTask { asking.resolve(await Result { try await self.ask(question, permit) }) }
        }
        do {
            return Self.verdict(try await promise.value)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return unanswered(question)
        }
    }

    private enum Step {
        case known(Answer)
        case wait(Promise<Answer, any Error>)
        case ask(Promise<Answer, any Error>, CircuitBreaker.Permit)
        case closed
    }

    private func nextStep(_ question: EntitlementQuestion) -> Step {
        let now = timekeeper.uptime
        return state.withLock { state in
            if let known = state.answers[question], now < known.until { return .known(known.answer) }
            if let asking = state.asking[question] { return .wait(asking) }
            guard let permit = state.breaker.permit(at: now) else { return .closed }
            let promise = Promise<Answer, any Error>()
            state.asking[question] = promise
            return .ask(promise, permit)
        }
    }

    private func ask(_ question: EntitlementQuestion, _ permit: CircuitBreaker.Permit) async throws -> Answer {
        let transport = transport
        do {
            let answer = try await withDeadline(limits.timeout, timekeeper, expired: { EntitlementUnanswered() }) {
                try await transport(question)
            }
            let now = timekeeper.uptime
            state.withLock { state in
                state.breaker.answered(permit)
                state.answers.updateValue((answer, now + limits.memory), forKey: question)
                state.asking[question] = nil
            }
            return answer
        } catch {
            let now = timekeeper.uptime
            state.withLock { state in
                state.breaker.failed(permit, at: now)
                state.asking[question] = nil
            }
            // Whatever it was, and be it a cancellation of the transport's own: there is no answer.
            throw EntitlementUnanswered()
        }
    }

    /// Takes over what another callout of the same service knows, because the configuration was read again.
    package func takeOver(_ former: EntitlementCallout) {
        let answers = former.state.withLock { $0.answers }
        state.withLock { $0.answers = answers }
    }

    /// What the service said before; without that, the rule of the outage.
    private func unanswered(_ question: EntitlementQuestion) -> Verdict {
        let now = timekeeper.uptime
        let known = state.withLock { $0.answers[question] }
        if let known, now < known.until + limits.staleness { return Self.verdict(known.answer) }
        return outage == .refuse ? .refused(.entitlementUnavailable) : .unchecked
    }

    private static func verdict(_ answer: Answer) -> Verdict {
        switch answer {
        case .granted(let grant): .granted(grant)
        case .denied: .refused(.notEntitled)
        }
    }
}

/// Who wants what.
package struct EntitlementQuestion: Sendable, Hashable {
    /// The user, as the token names them.
    package let user: String
    /// The asset, as the operator names it.
    package let asset: String

    /// - Parameters:
    ///   - user: the user, as the token names them.
    ///   - asset: the asset, as the operator names it.
    package init(user: String, asset: String) {
        self.user = user
        self.asset = asset
    }
}

/// How patient a callout is.
package struct EntitlementLimits: Sendable, Hashable {
    /// How long the service may take.
    package let timeout: Duration
    /// How long an answer counts.
    package let memory: Duration
    /// How much longer it counts while the service does not answer.
    package let staleness: Duration
    /// When the breaker moves.
    package let breaker: CircuitBreaker.Limits

    /// - Parameters:
    ///   - timeout: how long the service may take. Defaults to 1 s.
    ///   - memory: how long an answer counts; zero asks for every license. Defaults to 5 s.
    ///   - staleness: how much longer it counts while the service does not answer. Defaults to an hour.
    ///   - breaker: when the breaker moves. Defaults to those of `CircuitBreaker.Limits`.
    package init(
        timeout: Duration = .seconds(1), memory: Duration = .seconds(5), staleness: Duration = .seconds(3_600),
        breaker: CircuitBreaker.Limits = .init()
    ) {
        self.timeout = timeout
        self.memory = memory
        self.staleness = staleness
        self.breaker = breaker
    }
}

/// The service gave no answer in time.
private struct EntitlementUnanswered: Error {}
