import LatchkeyFairPlay

/// What `latchkey doctor` found at one step of a key's way.
struct Checkup: Sendable, Encodable {
    /// The steps, in the order in which they are looked at.
    enum Step: String, Sendable, Encodable { case settings, playlist, identifier, token, certificate, license, clock }

    enum Result: String, Sendable, Encodable { case ok, warning, error, skipped }

    let step: Step
    let result: Result
    /// A stable name of what is wrong; nil where nothing is.
    let code: String?
    /// What was found.
    let reason: String
    /// What to do; nil where nothing is to be done.
    let remedy: String?

    private init(_ step: Step, _ result: Result, _ code: String?, _ reason: String, _ remedy: String?) {
        (self.step, self.result, self.code, self.reason, self.remedy) = (step, result, code, reason, remedy)
    }

    static func ok(_ step: Step, _ reason: String) -> Self { Self(step, .ok, nil, reason, nil) }

    static func skipped(_ step: Step, _ reason: String, _ remedy: String? = nil) -> Self {
        Self(step, .skipped, nil, reason, remedy)
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

    private static func sentence(_ reason: String, _ subject: String?) -> String {
        subject.map { "\($0): \(reason)" } ?? reason
    }
}

/// All that was found, for people and for tools.
struct DoctorReport: Sendable, Encodable {
    let healthy: Bool
    let checks: [Checkup]

    init(_ checks: [Checkup]) {
        self.checks = checks
        healthy = !checks.contains { $0.result == .error }
    }

    var text: String {
        let rows = checks.flatMap { check in
            [[check.result.word, check.step.rawValue, check.reason]] + (check.remedy.map { [["", "", $0]] } ?? [])
        }
        return TextTable(rows: rows).text + "\n" + summary
    }

    private var summary: String {
        let counts = [(Checkup.Result.error, "error"), (.warning, "warning")].map { result, noun in
            let count = checks.count { $0.result == result }
            return "\(count) \(noun)\(count == 1 ? "" : "s")"
        }
        return counts.joined(separator: ", ")
    }
}

extension Checkup.Result {
    fileprivate var word: String {
        switch self {
        case .ok: "ok"
        case .warning: "warning"
        case .error: "ERROR"
        case .skipped: "–"
        }
    }
}
