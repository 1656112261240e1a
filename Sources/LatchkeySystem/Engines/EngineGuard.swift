import LatchkeyCore

/// Guards the calls to an engine that may be away: a store, a tenant's own service, the record's destination.
///
/// A call with a deadline continues when the task that waits for it is cancelled: otherwise it would be unknown whether it wrote. Its
/// outcome counts for its kind of work alone: an answer to a read says nothing of writes. An engine that has failed for a while is left
/// alone, and no call waits for it; it is probed separately. A probe does the work itself, in a form that changes nothing.
///
/// A call that is late says little of the engine: this machine may be slow, or the way there. It is marked so, and the engine counts as away
/// only once it has been late for as long as the breaker's patience. An engine in this process is never away.
///
/// Source: `Documentation/LicenseServer.md` §7.5.
package final class EngineGuard: Sendable {
    package let health: EngineHealth
    private let limit: Duration?
    private let probed: [EngineOperation]
    private let late: @Sendable (Duration) -> any Error
    private let report: @Sendable (EngineOperation, Duration, StoreError?) -> Void
    private let question: @Sendable (EngineWork) async throws -> Void

    /// - Parameters:
    ///   - health: the engine's health.
    ///   - limit: how long a call may take; `nil` for calls that limit themselves. Defaults to that.
    ///   - probed: the kinds of work that a probe tries even if they are not in doubt. Defaults to none.
    ///   - late: the error of a call that took too long. Defaults to one that says so.
    ///   - report: takes each call's time, and its error. Called on any thread; must not wait. Defaults to nothing.
    ///   - question: does a kind of work in a form that changes nothing. Defaults to nothing.
    package init(
        _ health: EngineHealth, limit: Duration? = nil, probing probed: [EngineOperation] = [],
        late: (@Sendable (Duration) -> any Error)? = nil,
        report: @escaping @Sendable (EngineOperation, Duration, StoreError?) -> Void = { _, _, _ in },
        question: @escaping @Sendable (EngineWork) async throws -> Void = { _ in }
    ) {
        (self.health, self.limit, self.probed, self.report, self.question) = (health, limit, probed, report, question)
        let engine = health.engine
        self.late =
            late ?? {
                StoreError(.unavailable, engine, reason: "The engine did not answer within \($0.inWords).")
            }
    }

    /// Asks the engine, unless it is left alone; then no caller waits for it, and one call has it probed.
    /// - Throws: `StoreError`.
    package func call<Value: Sendable>(
        _ work: EngineWork, _ body: @escaping @Sendable () async throws -> Value
    ) async throws(StoreError) -> Value {
        try checked(await outcome(of: work, try leave(for: work), body))
    }

    /// Asks an engine that answers immediately, because it is in this process's memory: no task waits for it.
    /// - Throws: `StoreError`.
    package func callAtOnce<Value>(
        _ work: EngineWork, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let permit = try leave(for: work)
        let began = health.timekeeper.uptime
        let outcome: Result<Value, any Error>
        do { outcome = .success(try body()) } catch { outcome = .failure(error) }
        return try checked(noted(outcome, of: work, permit, since: began))
    }

    /// The leave for a piece of work. An engine that is left alone is probed when it is time, and no caller waits for it.
    private func leave(for work: EngineWork) throws(StoreError) -> CircuitBreaker.Permit {
        switch health.leave(for: work) {
        case .ask(let permit): return permit
        case .probe(let permit): startTask { await self.probe(work, permit) }
        case .none: break
        }
        throw health.absence(for: work.operation)
    }

    /// Asks the engine, also one that is left alone, if it is time for that: for its only caller.
    /// - Throws: `StoreError`.
    package func ask<Value: Sendable>(
        _ work: EngineWork, _ body: @escaping @Sendable () async throws -> Value
    ) async throws(StoreError) -> Value {
        guard let permit = health.permit(for: work) else { throw health.absence(for: work.operation) }
        return try checked(await outcome(of: work, permit, body))
    }

    /// Tries the work that is in doubt, and the kinds of work that were not done for a while.
    /// - Parameter time: how long that is. Defaults to no other work while some is in doubt, or else to all kinds.
    package func probe(afterQuiet time: Duration? = nil) async {
        let inDoubt = health.inDoubt
        let quiet = probed.filter { kind in time.map { health.isQuiet(for: $0, kind) } ?? inDoubt.isEmpty }
        await withTaskGroup { group in
            for work in Set(inDoubt + quiet.map { EngineWork($0) }) {
                guard let permit = health.permit(for: work) else { continue }
                group.addTask { await self.probe(work, permit) }
            }
        }
    }

    // The health has the reason of a failure.
    private func probe(_ work: EngineWork, _ permit: CircuitBreaker.Permit) async {
        _ = await outcome(of: work, permit) { [question] in
            do { try await question(work) } catch let error as StoreError where error.kind == .damaged {
                // Of a call it is its record that is damaged, and the engine answers.
                throw StoreError(.misconfigured, error.engine, reason: error.reason, remedy: error.remedy)
            }
        }
    }

    /// Does a piece of work for which there is leave, and notes its outcome.
    package func outcome<Value: Sendable>(
        of work: EngineWork, _ permit: CircuitBreaker.Permit, _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let began = health.timekeeper.uptime
        let outcome = if let limit { await limited(limit, body) } else { await Result { try await body() } }
        return noted(outcome, of: work, permit, since: began)
    }

    /// Notes the outcome of a piece of work.
    private func noted<Value>(
        _ outcome: Result<Value, any Error>, of work: EngineWork, _ permit: CircuitBreaker.Permit, since began: Duration
    ) -> Result<Value, any Error> {
        let took = health.timekeeper.uptime - began
        guard case .failure(let error) = outcome else {
            health.note(nil, for: work, permit)
            report(work.operation, took, nil)
            return outcome
        }
        var failure = StoreError(error, of: health.engine)
        let isLate = failure.isLate || health.isEmbedded || limit.map { took >= $0 } ?? false
        failure.isLate = failure.kind == .unavailable && isLate
        if limit == nil, Task.isCancelled {
            health.giveBack(permit, for: work)
        } else {
            health.note(failure, for: work, permit)
        }
        // An engine that has been late for long is away.
        failure.isLate = failure.isLate && !health.isAway(for: work)
        report(work.operation, took, failure)
        return error is StoreError ? .failure(failure) : outcome
    }

    private func checked<Value>(_ outcome: Result<Value, any Error>) throws(StoreError) -> Value {
        do { return try outcome.get() } catch { throw StoreError(error, of: health.engine) }
    }

    /// The outcome of a separate task, which no caller cancels; the deadline ends it.
    private func limited<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let (late, timekeeper) = (late, health.timekeeper)
        let promise = Promise<Value, any Error>()
        await startTask {
            promise.resolve(
                await Result { try await withDeadline(limit, timekeeper, expired: { late(limit) }, body) })
        }.value
        return promise.outcome ?? .failure(late(limit))
    }
}

/// A piece of work with an engine.
package struct EngineWork: Sendable, Hashable {
    package let operation: EngineOperation
    /// The part of the engine that does it. Parts fail independently.
    package let part: Int

    package init(_ operation: EngineOperation, part: Int = 0) { (self.operation, self.part) = (operation, part) }
}

/// Does a kind of work with an engine in a form that changes nothing, to see whether the engine does it.
package typealias EngineQuestion = @Sendable (EngineOperation) async throws(StoreError) -> Void

/// A kind of work with an engine. The raw values are labels of metrics.
package enum EngineOperation: String, Sendable, Hashable, CaseIterable {
    case read, write
    /// A page or a count, for operators.
    case list
    /// Makes days to come, and drops old ones.
    case days
    /// Receives other nodes' changes.
    case listen
    /// Lets operators sign in.
    case signIn

    /// Descriptions of an engine that does not do it, and of one that does it again.
    package var words: (away: String, back: String) {
        switch self {
        case .read: ("does not answer", "answers again")
        case .write: ("accepts no writes", "accepts writes again")
        case .list: ("returns no lists", "returns lists again")
        case .days: ("cannot create or drop days", "creates and drops days again")
        case .listen: ("reports no changes", "reports changes again")
        case .signIn: ("signs no operators in", "signs operators in again")
        }
    }

    /// The effect if only this fails; `nil` if it is the effect of the engine's outage.
    package var consequence: String? {
        self == .listen ? "Other nodes' changes, such as takedowns, take effect here within 30 s." : nil
    }
}

/// The location of an engine, which determines the meaning of a late answer.
public enum EngineReach: Sendable, Hashable {
    /// In this process's memory: it never waits, and needs no limit for its time.
    case memory
    /// On this machine's disk, as a part of this process: if it is late, this machine is.
    case disk
    /// Another process or machine, which may be away.
    case network
}

/// The engine of a store.
public protocol StoreEngine: Sendable {
    /// The engine's name for metrics, such as `memory` or `postgresql`.
    var engine: String { get }
    /// Its location, which determines the meaning of a late answer. Defaults to a network.
    var reach: EngineReach { get }
}

extension StoreEngine {
    public var reach: EngineReach { .network }
}

extension StoreError {
    /// Converts a call's error.
    fileprivate init(_ error: any Error, of engine: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as any DiagnosableError:
            self.init(.unavailable, engine, reason: error.reason, remedy: error.remedy)
        default: self.init(.unavailable, engine, reason: "The engine did not respond.")
        }
    }
}
