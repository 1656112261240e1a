package import LatchkeyCore
import LatchkeyForms
package import LatchkeySystem

/// Decides by asking the operator's service whether a user may have an asset. For services that cannot put that into a token.
///
/// An answer counts for a few seconds for this user and asset, and concurrent requests for it share one question. The service has a second;
/// if it fails repeatedly it is left alone for a while, and then tried by a question that no request waits for. During an outage its
/// earlier answers count for an hour. One callout per tenant.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package final class EntitlementCallout<Grant: Sendable>: Sendable {
    /// The service's answer.
    package enum Answer: Sendable {
        /// Yes, with a grant.
        case granted(Grant)
        case denied
        /// The service refuses the question about this viewer with a status of HTTP, 400 to 499.
        case rejected(status: Int)
    }

    /// An event for operators.
    package enum Event: Sendable, Equatable {
        /// The service gave no answer, with the cause.
        case failed(Diagnosis)
        /// The service answered 401 or 407: it may not know this server. Reported once a minute.
        case unauthorized(status: Int)
    }

    /// The verdict on a request.
    package enum Verdict: Sendable {
        /// The service says yes.
        case granted(Grant)
        /// The service does not answer, and the rule for that allows it.
        case unchecked
        /// No license.
        case refused(LicenseRefusal)
    }

    /// How often operators are warned that the service does not know this server.
    private static var unauthorizedInterval: Duration { .seconds(60) }

    private struct State {
        var lastUnauthorized: Duration?
        var answers = BoundedDictionary<EntitlementQuestion, (answer: Answer, until: Duration)>(limit: 10_000)
        var asking: [EntitlementQuestion: Promise<Answer, any Error>] = [:]

        /// Whether an answer says that the service does not know this server, and none was reported within the last minute.
        mutating func isNews(_ answer: Answer, at now: Duration) -> Bool {
            guard case .rejected(let status) = answer, status == 401 || status == 407 else { return false }
            if let last = lastUnauthorized, now - last < EntitlementCallout.unauthorizedInterval { return false }
            lastUnauthorized = now
            return true
        }
    }

    private static var work: EngineWork { EngineWork(.read) }

    private let state: Locked<State>
    private let limits: EntitlementLimits
    private let outage: OutageRule
    private let timekeeper: any Timekeeper
    private let report: @Sendable (Event) -> Void
    let guarded: EngineGuard
    private let transport: @Sendable (EntitlementQuestion) async throws -> Answer

    /// - Parameters:
    ///   - limits: times. Defaults to those of `EntitlementLimits`.
    ///   - outage: what happens while the service does not answer. How long the license may last then, `decide` finds by the same rule,
    ///     once the facts have `Engine.callout` among the engines that are out of service.
    ///   - health: notes whether the service answers, and says when it is left alone. Defaults to a new one.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - report: called with events for operators. Defaults to nothing.
    ///   - transport: asks the service. It throws where the service gives no answer; a no is an answer.
    package init(
        _ limits: EntitlementLimits = EntitlementLimits(), outage: OutageRule, health: EngineHealth? = nil,
        timekeeper: any Timekeeper = SystemTimekeeper(), report: @escaping @Sendable (Event) -> Void = { _ in },
        transport: @escaping @Sendable (EntitlementQuestion) async throws -> Answer
    ) {
        state = Locked(State())
        self.limits = limits
        self.outage = outage
        self.timekeeper = timekeeper
        self.report = report
        guarded = EngineGuard(
            health ?? EngineHealth("callout", limits: .callout, timekeeper: timekeeper), limit: limits.timeout,
            late: { Diagnosis.calloutLate(after: $0) })
        self.transport = transport
    }

    /// Asks, or repeats an answer of the last seconds.
    /// - Throws: `CancellationError` if the waiting task is cancelled; the question continues for the others.
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
        case .askBeside(let asking, let permit):
            startTask { asking.resolve(await Result { try await self.ask(question, permit) }) }
            return unanswered(question)
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
        /// A service that is left alone is tried, and no request waits for it.
        case askBeside(Promise<Answer, any Error>, CircuitBreaker.Permit)
        case closed
    }

    private func nextStep(_ question: EntitlementQuestion) -> Step {
        let (now, health) = (timekeeper.uptime, guarded.health)
        return state.withLock { state in
            if let known = state.answers[question], now < known.until { return .known(known.answer) }
            if let asking = state.asking[question] {
                return health.isLeftAlone(for: Self.work) ? .closed : .wait(asking)
            }
            let promise = Promise<Answer, any Error>()
            switch health.leave(for: Self.work) {
            case .none: return .closed
            case .ask(let permit):
                state.asking[question] = promise
                return .ask(promise, permit)
            case .probe(let permit):
                state.asking[question] = promise
                return .askBeside(promise, permit)
            }
        }
    }

    private func ask(_ question: EntitlementQuestion, _ permit: CircuitBreaker.Permit) async throws -> Answer {
        let transport = transport
        do {
            let answer = try await guarded.outcome(of: Self.work, permit) {
                do { return try await transport(question) } catch { throw Diagnosis(callout: error) }
            }.get()
            let now = timekeeper.uptime
            let isNews = state.withLock { state in
                state.answers.updateValue((answer, now + limits.memory), forKey: question)
                state.asking[question] = nil
                return state.isNews(answer, at: now)
            }
            if isNews, case .rejected(let status) = answer { report(.unauthorized(status: status)) }
            return answer
        } catch {
            state.withLock { $0.asking[question] = nil }
            // Whatever the error, even the transport's own cancellation: there is no answer.
            let failure = Diagnosis(callout: error)
            report(.failed(failure))
            throw failure
        }
    }

    /// Takes over the knowledge of another callout of the same service, because the configuration was reloaded.
    package func takeOver(_ former: EntitlementCallout) {
        let answers = former.state.withLock { $0.answers }
        state.withLock { $0.answers = answers }
    }

    /// The service's earlier answer; without one, the rule of the outage.
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
        case .rejected(let status): .refused(.notEntitled(status))
        }
    }
}

/// The question whether a user may have an asset.
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

    /// - Parameters:
    ///   - timeout: how long the service may take. Defaults to 1 s.
    ///   - memory: how long an answer counts; zero asks for every license. Defaults to 5 s.
    ///   - staleness: how much longer it counts while the service does not answer. Defaults to an hour.
    package init(
        timeout: Duration = .seconds(1), memory: Duration = .seconds(5), staleness: Duration = .seconds(3_600)
    ) {
        self.timeout = timeout
        self.memory = memory
        self.staleness = staleness
    }
}

/// Why the operator's own service gave no answer, for the operator's log. Holds no address and nothing of a body.
extension Diagnosis {
    private static let calloutUnanswered = "calloutUnanswered"

    private init(callout what: String, remedy: String) {
        self.init(code: Self.calloutUnanswered, reason: "The callout does not respond. \(what)", remedy: remedy)
    }

    /// Converts a transport's error.
    fileprivate init(callout error: any Error) {
        switch error {
        case let error as Diagnosis where error.code == Self.calloutUnanswered: self = error
        case let error as TransportError:
            self.init(callout: error.reason, remedy: "Check that the service responds to this machine.")
        case let error as JSONProblems:
            self.init(
                callout: "Its body is not a grant. \(error.problems.first?.description ?? error.reason)",
                remedy: "Respond with an empty body, or with members of the claim latchkey.")
        default:
            self.init(
                callout: "The transport failed with \(type(of: error)).", remedy: "Check the service's log.")
        }
    }

    fileprivate static func calloutLate(after limit: Duration) -> Self {
        Self(callout: "It took longer than \(limit.inWords).", remedy: "Make it faster, or raise callout.timeout.")
    }

    /// A status without an answer: the service is out of order, or asked too often.
    package static func callout(status: Int) -> Self {
        Self(
            callout: "It responds with \(status).",
            remedy: status == 429 ? "Raise callout.memory, or its limit." : "Check the service's log.")
    }
}

/// The meaning of a status of the operator's own service.
///
/// Source: `Documentation/Server/Tokens.md`.
package enum EntitlementStatus: Sendable, Equatable {
    /// 200 and 204.
    case yes
    /// 403 and 404.
    case no
    /// Any other 4xx: this viewer's fault, or this server's.
    case rejected
    /// No answer: 408, 425, 429, everything from 500 on, redirects.
    case outage

    package init(_ status: Int) {
        switch status {
        case 200, 204: self = .yes
        case 403, 404: self = .no
        case 408, 425, 429: self = .outage
        case 400...499: self = .rejected
        default: self = .outage
        }
    }
}
