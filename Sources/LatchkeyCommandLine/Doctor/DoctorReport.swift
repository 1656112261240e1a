import LatchkeyCore
import LatchkeyTerminal

/// All findings, for people and for tools.
struct DoctorReport: Sendable, Encodable {
    /// The overall verdict.
    let verdict: Verdict
    /// Whether all is well, as far as there is anything to see.
    let healthy: Bool
    /// The cause of everything else; `nil` if nothing is wrong.
    let cause: Checkup?
    /// Whether an SPC or a credential was sent to a server.
    let sentSecrets: Bool
    let checks: [Checkup]
    /// Whether the report is about a recording, so that nothing was sent.
    private let isRecorded: Bool
    /// Whether the stream needs no key.
    private let isOfClearStream: Bool

    private enum CodingKeys: String, CodingKey { case verdict, healthy, cause, sentSecrets, checks }

    /// A verdict on a stream's keys.
    enum Verdict: String, Sendable, Encodable {
        /// Something is wrong.
        case wrong
        /// Playlist, certificate and license were seen, and nothing is wrong.
        case right
        /// No problem was found, but too little was seen to be sure.
        case unknown
    }

    /// - Parameters:
    ///   - checks: the findings, in order.
    ///   - sentSecrets: whether an SPC or a credential was sent to a server.
    ///   - isRecorded: whether the report is about a recording, so that nothing was sent.
    ///   - isOfClearStream: whether the stream names no key, so that its media decides.
    init(_ checks: [Checkup], sentSecrets: Bool, isRecorded: Bool = false, isOfClearStream: Bool = false) {
        self.checks = checks
        self.sentSecrets = sentSecrets
        self.isRecorded = isRecorded
        self.isOfClearStream = isOfClearStream
        verdict = Self.verdict(checks, needing: isOfClearStream ? [.playlist, .media] : Self.needed)
        healthy = verdict == .right
        cause = Self.cause(among: checks)
    }

    /// The steps required for the verdict that all is well.
    private static let needed: [Checkup.Step] = [.playlist, .certificate, .license]

    private static func verdict(_ checks: [Checkup], needing needed: [Checkup.Step]) -> Verdict {
        if checks.contains(where: { $0.result == .error }) { return .wrong }
        let isSeen = needed.allSatisfy { step in checks.contains { $0.step == step && $0.result == .ok } }
        return isSeen && !checks.contains { $0.result == .unseen } ? .right : .unknown
    }

    /// The error that caused the others: one that explains several steps, else the first on the key's way; else the first warning.
    private static func cause(among checks: [Checkup]) -> Checkup? {
        let errors = checks.filter { $0.result == .error }
        let explaining = explainsOthers.lazy.compactMap { code in errors.first { $0.code == code } }.first
        let first = Checkup.Step.allCases.lazy.compactMap { step in errors.first { $0.step == step } }.first
        return explaining ?? first ?? checks.first { $0.result == .warning }
    }

    /// Errors that cause others, whatever the step.
    private static let explainsOthers = ["clocksDiffer", "otherProfileFits"]

    var status: ExitStatus {
        switch verdict {
        case .right: .yes
        case .wrong: .no
        case .unknown: .unknown
        }
    }

    var text: String {
        let rows = checks.flatMap { check in
            [[check.result.word, check.step.rawValue, check.reason]] + (check.remedy.map { [["", "", $0]] } ?? [])
        }
        return "\(headline)\n\n\(TextTable(rows: rows).text)\n\(summary)"
    }

    /// The cause, its remedy, and whether a secret left this machine; or that no problem was found, as far as that can be said.
    var headline: String {
        let sent = sentSecrets ? nil : sent
        let found = cause.map { cause in
            let reason = isRecorded ? "\(cause.step.rawValue): \(cause.reason)" : cause.reason
            return [reason, cause.remedy, sent].compactMap(\.self).joined(separator: " ")
        }
        switch verdict {
        case .wrong: return found ?? ""
        case .right: return [found ?? allClear, notLooked].compactMap(\.self).joined(separator: " ")
        case .unknown:
            return ["Not enough was seen to say that all is well: \(unseen)", found].compactMap(\.self).joined(
                separator: " ")
        }
    }

    /// Whether a secret left this machine; `nil` for a recording, for which nothing is sent.
    var sent: String? {
        isRecorded ? nil : sentSecrets ? "An SPC or a credential was sent to a server." : "Nothing secret was sent."
    }

    private var allClear: String {
        isOfClearStream ? "Nothing is wrong: the stream is in clear, and needs no key." : "Nothing is wrong."
    }

    /// The parts that were not seen, each in a sentence.
    var unseen: String {
        // Only three are stated, and without a license nothing plays.
        let said = distinct(\.reason, of: checks.filter { $0.step == .license } + checks)
        let silent = (isOfClearStream ? [.playlist, .media] : Self.needed).filter { step in
            !checks.contains { $0.step == step && ($0.result == .ok || $0.result == .unseen) }
        }
        return (said.prefix(3) + silent.map { "There is no good \($0.rawValue)." }).joined(separator: " ")
    }

    /// The actions that show these parts.
    var unseenRemedies: [String] { distinct(\.remedy, of: checks).compactMap(\.self) }

    /// The values of the unseen parts, each once.
    private func distinct<Value: Hashable>(_ value: KeyPath<Checkup, Value>, of checks: [Checkup]) -> [Value] {
        var known = Set<Value>()
        return checks.filter { $0.result == .unseen }.map { $0[keyPath: value] }.filter { known.insert($0).inserted }
    }

    /// The steps that were not checked.
    private var notLooked: String? {
        let skipped = Checkup.Step.allCases.filter { step in
            let found = checks.filter { $0.step == step }
            return !found.isEmpty && found.allSatisfy { $0.result == .skipped }
        }
        return skipped.isEmpty ? nil : "Not looked at: \(skipped.map(\.rawValue).joined(separator: ", "))."
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
        case .unseen: "UNSEEN"
        }
    }
}
