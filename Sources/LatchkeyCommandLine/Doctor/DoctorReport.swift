import LatchkeyCore
import LatchkeyTerminal

/// All that was found, for people and for tools.
struct DoctorReport: Sendable, Encodable {
    let healthy: Bool
    /// The cause of everything else; `nil` if nothing is wrong.
    let cause: Checkup?
    /// Whether an SPC or a credential went to a server.
    let sentSecrets: Bool
    let checks: [Checkup]

    /// - Parameters:
    ///   - checks: what was found, in order.
    ///   - sentSecrets: whether an SPC or a credential went to a server.
    init(_ checks: [Checkup], sentSecrets: Bool) {
        self.checks = checks
        self.sentSecrets = sentSecrets
        healthy = !checks.contains { $0.result == .error }
        cause = Self.cause(among: checks)
    }

    /// The error that the others come of: one that explains several steps, else the first on the key's way; else the first warning.
    private static func cause(among checks: [Checkup]) -> Checkup? {
        let errors = checks.filter { $0.result == .error }
        let explaining = explainsOthers.lazy.compactMap { code in errors.first { $0.code == code } }.first
        let first = Checkup.Step.allCases.lazy.compactMap { step in errors.first { $0.step == step } }.first
        return explaining ?? first ?? checks.first { $0.result == .warning }
    }

    /// Errors that others come of, whatever the step.
    private static let explainsOthers = ["clocksDiffer", "otherProfileFits"]

    var text: String {
        let rows = checks.flatMap { check in
            [[check.result.word, check.step.rawValue, check.reason]] + (check.remedy.map { [["", "", $0]] } ?? [])
        }
        return "\(headline)\n\n\(TextTable(rows: rows).text)\n\(summary)"
    }

    /// The cause, what to do about it, and whether a secret left this machine.
    private var headline: String {
        guard let cause else { return "Nothing is wrong." }
        let sent = sentSecrets ? nil : "Nothing secret was sent."
        return [cause.reason, cause.remedy, sent].compactMap { $0 }.joined(separator: " ")
    }

    private var summary: String {
        let counts = [(Checkup.Result.error, "error"), (.warning, "warning")].map { result, noun in
            checks.count { $0.result == result }.counted(noun)
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
