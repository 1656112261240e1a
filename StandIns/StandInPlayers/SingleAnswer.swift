import StandInEngine

/// An app's way to answer once: the implementation of a completion handler or a callback object.
///
/// Records a second answer, and its release without an answer.
public final class SingleAnswer<Value: Sendable>: Sendable {
    private let name: String
    private let outcome: StandInOutcome<Value>
    /// Settled by this answer. Several answers may settle one outcome.
    private let own = StandInOutcome<Void>()
    private let repeated: RuleViolation.Rule
    private let log: StandInLog

    /// - Parameters:
    ///   - name: the name in violations.
    ///   - outcome: the outcome that the answer settles, unless another answer was first.
    ///   - repeated: the rule that a second answer violates.
    ///   - log: records the violations.
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

    /// Ends it without violating a rule, because the app was never asked.
    func withdraw() { own.settle(.success(())) }
}
