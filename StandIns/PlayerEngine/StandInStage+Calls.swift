public import Dispatch
import LatchkeyCore
public import StandInEngine

extension StandInStage {
    /// Calls an app's code that answers by returning, and waits.
    /// - Parameters:
    ///   - name: what the log calls it.
    ///   - subject: what it is about.
    ///   - queue: where it runs.
    ///   - body: calls the app.
    /// - Returns: what came back; nil where only the stand-in's default ran, or nobody was there.
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

    /// Calls an app's code that answers through a completion handler or a callback object, and waits.
    /// - Parameters:
    ///   - name: what the log calls it.
    ///   - subject: what it is about.
    ///   - queue: where it runs.
    ///   - repeated: the rule that a second answer breaks.
    ///   - body: calls the app. Players that call twice hand over an answer each time; the first one counts.
    /// - Returns: the answer; nil where only the stand-in's default ran.
    /// - Throws: `KeyFailure` where nobody is there, or the answer was dropped.
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
