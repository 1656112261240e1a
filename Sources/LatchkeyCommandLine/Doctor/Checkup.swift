import LatchkeyFairPlay
import LatchkeyTerminal

/// What `latchkey doctor` found at one step of a key's way.
struct Checkup: Sendable, Encodable {
    /// The steps, in the order in which they are looked at.
    enum Step: String, Sendable, Encodable, CaseIterable {
        case settings, playlist, identifier, token, spc, certificate, license, media, clock
    }

    enum Result: String, Sendable, Encodable {
        case ok, warning, error, skipped
        /// What would have to be seen before anybody can say that all is well.
        case unseen
    }

    let step: Step
    let result: Result
    /// A stable name of what is wrong; `nil` if nothing is.
    let code: String?
    /// What was found.
    let reason: String
    /// What to do; `nil` if nothing is to be done.
    let remedy: String?

    private init(_ step: Step, _ result: Result, _ code: String?, _ reason: String, _ remedy: String?) {
        (self.step, self.result, self.code, self.reason, self.remedy) = (step, result, code, reason, remedy)
    }

    static func ok(_ step: Step, _ reason: String) -> Self { Self(step, .ok, nil, reason, nil) }

    static func skipped(_ step: Step, _ reason: String, _ remedy: String? = nil) -> Self {
        Self(step, .skipped, nil, reason, remedy)
    }

    static func unseen(_ step: Step, _ reason: String, _ remedy: String) -> Self {
        Self(step, .unseen, nil, reason, remedy)
    }

    static func warning(_ step: Step, _ code: String, _ reason: String, _ remedy: String) -> Self {
        Self(step, .warning, code, reason, remedy)
    }

    static func error(_ step: Step, _ code: String, _ reason: String, _ remedy: String) -> Self {
        Self(step, .error, code, reason, remedy)
    }

    /// - Parameter subject: what it is about, such as a key.
    init(_ step: Step, _ failure: Failure, about subject: String? = nil) {
        self.init(step, .error, failure.code, Self.sentence(failure.reason, subject), failure.remedy)
    }

    init(_ step: Step, _ finding: InspectionFinding, about subject: String? = nil) {
        let result: Result = finding.severity == .error ? .error : .warning
        self.init(step, result, finding.code, Self.sentence(finding.reason, subject), finding.remedy)
    }

    /// The same as an error.
    var asError: Self { Self(step, .error, code, reason, remedy) }

    /// The same as a warning.
    var asWarning: Self { Self(step, .warning, code, reason, remedy) }

    /// The same with more words about what was found, or with another remedy.
    func adding(_ words: String?, remedy: String? = nil) -> Self {
        Self(step, result, code, [reason, words].compactMap { $0 }.joined(separator: " "), remedy ?? self.remedy)
    }

    private static func sentence(_ reason: String, _ subject: String?) -> String {
        subject.map { "\($0): \(reason)" } ?? reason
    }
}

extension [Checkup] {
    /// Whether something is wrong at one of the steps.
    func hasError(at steps: Checkup.Step...) -> Bool { contains { $0.result == .error && steps.contains($0.step) } }

    /// Whether something is wrong that has one of the codes.
    func hasError(_ codes: String...) -> Bool { contains { $0.result == .error && codes.contains($0.code ?? "") } }
}
