/// An error that says what happened, where, and what to do about it.
///
/// Every error type of Latchkey conforms. None of its texts holds a secret.
public protocol DiagnosableError: Error, Sendable, CustomStringConvertible {
    /// A stable name of the kind of error, such as `malformedTLLV`. Never renamed, never reused.
    var code: String { get }
    /// What happened, with the offending value shortened and without secrets.
    var reason: String { get }
    /// What to do, one imperative sentence.
    var remedy: String { get }
}

extension DiagnosableError {
    /// The code, the reason and the remedy, in one line.
    public var description: String { "\(code): \(reason) \(remedy)" }
}
