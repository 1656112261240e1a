public import Dispatch
import LatchkeyCore
public import StandInEngine

extension StandInStage {
    /// Calls an app's code that returns its answer, and waits.
    /// - Parameters:
    ///   - name: the name in the log.
    ///   - subject: the subject in the log.
    ///   - queue: the queue of the call.
    ///   - body: calls the app.
    /// - Returns: the answer; `nil` if only the stand-in's default ran, or if there was no delegate.
    public func call<Value: Sendable>(
        _ name: String, about subject: String? = nil, on queue: DispatchQueue,
        _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let value = Locked<Value?>(nil)
            deliver(name, about: subject, on: queue) {
                let returned = body()
                value.withLock { $0 = returned }
            } afterwards: { taker in
                continuation.resume(returning: taker == .delegate ? value.withLock { $0 } : nil)
            }
        }
    }

    /// Calls an app's code that answers with a completion handler or a callback object, and waits.
    /// - Parameters:
    ///   - name: the name in the log.
    ///   - subject: the subject in the log.
    ///   - queue: the queue of the call.
    ///   - repeated: the rule that a second answer violates.
    ///   - body: calls the app. A player that calls twice passes a separate answer each time; the first one counts.
    /// - Returns: the answer; `nil` if only the stand-in's default ran.
    /// - Throws: a `KeyFailure` if there is no delegate or if the app dropped the answer.
    public func ask<Value: Sendable>(
        _ name: String, about subject: String? = nil, on queue: DispatchQueue,
        repeated: RuleViolation.Rule = .completedTwice, _ body: @escaping @Sendable (SingleAnswer<Value>) -> Void
    ) async throws -> Value? {
        let outcome = StandInOutcome<Value?>()
        let answered = StandInOutcome<Value>()
        for _ in 0..<(misbehaves(.callsBackTwice) ? 2 : 1) {
            hand(SingleAnswer(name, for: answered, repeated: repeated, log), name, subject, queue, body) { taker in
                switch taker {
                case .delegate: return
                case .standard: outcome.settle(.success(nil))
                case .nobody: outcome.settle(.failure(KeyFailure.nobody(name)))
                }
            }
        }
        Task {
            do { outcome.settle(.success(try await answered.value)) } catch { outcome.settle(.failure(error)) }
        }
        return try await outcome.value
    }

    private func hand<Value: Sendable>(
        _ answer: SingleAnswer<Value>, _ name: String, _ subject: String?, _ queue: DispatchQueue,
        _ body: @escaping @Sendable (SingleAnswer<Value>) -> Void,
        afterwards: @escaping @Sendable (CallbackTaker) -> Void
    ) {
        deliver(name, about: subject, on: queue) {
            body(answer)
        } afterwards: { taker in
            if taker != .delegate { answer.withdraw() }
            afterwards(taker)
        }
    }
}
