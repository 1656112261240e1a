import LatchkeyCore

/// What the tool says of an error: `{"code": …, "reason": …, "remedy": …}`.
struct Failure: Encodable, Sendable {
    let code: String
    let reason: String
    let remedy: String

    init(_ error: any Error) {
        switch error {
        case let error as any DiagnosableError:
            (code, reason, remedy) = (error.code, error.reason, error.remedy)
        case is CancellationError:
            (code, reason, remedy) = ("cancelled", "The work was cancelled.", "Run it again.")
        default:
            // The type alone: an unknown error's text may hold anything.
            (code, reason) = ("unexpected", "An error of type \(type(of: error)) was not expected here.")
            remedy = "Report it with the command that you ran."
        }
    }

    /// For people, in one line with the code at its end.
    var text: String { "\(reason) \(remedy) (\(code))" }
}
