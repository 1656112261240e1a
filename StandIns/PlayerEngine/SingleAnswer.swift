import StandInEngine

/// What an app is handed to answer once with: the inside of a completion handler or a callback object.
///
/// Notes a second answer, and that it was dropped without one.
public final class SingleAnswer<Value: Sendable>: Sendable {
    private let name: String
    private let outcome: StandInOutcome<Value>
    /// This answer's own; several may lead to one outcome.
    private let own = StandInOutcome<Void>()
    private let repeated: RuleViolation.Rule
    private let log: StandInLog

    /// - Parameters:
    ///   - name: what violations call it.
    ///   - outcome: settled by the answer, unless another was faster.
    ///   - repeated: the rule that a second answer breaks.
    ///   - log: takes the violations.
    init(_ name: String, for outcome: StandInOutcome<Value>, repeated: RuleViolation.Rule, _ log: StandInLog) {
        self.name = name
        self.outcome = outcome
        self.repeated = repeated
        self.log = log
    }

    deinit {
        guard own.settle(.success(())) else { return }
        log.note(.unanswered, "\(name) was dropped without an answer.")
        outcome.settle(.failure(KeyFailure.unanswered(name)))
    }

    /// Answers.
    public func give(_ value: Value) {
        guard own.settle(.success(())) else { return log.note(repeated, name) }
        outcome.settle(.success(value))
    }

    /// Lets go of it without breaking a rule: the app was never asked.
    func withdraw() { own.settle(.success(())) }
}
