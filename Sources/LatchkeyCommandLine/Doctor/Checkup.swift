import Latchkey
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeyTerminal

/// A finding of `latchkey doctor` at one step of a key's way.
struct Checkup: Sendable, Encodable {
    /// The steps, in the order in which they are checked.
    enum Step: String, Sendable, Encodable, CaseIterable {
        case settings, playlist, identifier, token, spc, network, certificate, lookup, session, license, media, clock
    }

    enum Result: String, Sendable, Encodable {
        case ok, warning, error, skipped
        /// A part that must be seen for the verdict that all is well.
        case unseen
    }

    let step: Step
    let result: Result
    /// A stable name of the problem, or `nil`.
    let code: String?
    /// A description of the finding.
    let reason: String
    /// The remedy; `nil` if none is needed.
    let remedy: String?
    /// The parts of the request that may be the cause, according to the service's answer.
    var open = Set(RequestPart.allCases)

    private enum CodingKeys: String, CodingKey { case step, result, code, reason, remedy }

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

    /// - Parameter subject: the subject of the check, such as a key.
    init(_ step: Step, _ failure: Failure, about subject: String? = nil) {
        self.init(step, .error, failure.code, Self.sentence(failure.reason, subject), failure.remedy)
    }

    init(_ step: Step, _ finding: InspectionFinding, about subject: String? = nil) {
        let result: Result = finding.severity == .error ? .error : .warning
        self.init(step, result, finding.code, Self.sentence(finding.reason, subject), finding.remedy)
    }

    /// - Parameters:
    ///   - subject: the subject of the check, such as a key or a line.
    ///   - place: where the problem was found.
    init(_ step: Step, _ finding: StreamFinding, about subject: String?, at place: String? = nil) {
        let words = finding.what.prefix(1).uppercased() + finding.what.dropFirst()
        self.init(
            step, finding.rule.severity == .error ? .error : .warning, finding.rule.code,
            "\(subject.map { "\($0): \(finding.what)" } ?? words)\(place.map { " (\($0))" } ?? "").",
            finding.rule.remedy)
    }

    /// The same as an error.
    var asError: Self { changed(result: .error) }

    /// The same as a warning.
    var asWarning: Self { changed(result: .warning) }

    /// The same with a longer description, another remedy, or another code.
    func adding(_ words: String?, remedy: String? = nil, code: String? = nil) -> Self {
        changed(reason: [reason, words].compactMap { $0 }.joined(separator: " "), remedy: remedy, code: code)
    }

    /// The same as a check of the network, with how far the request got.
    func ofNetwork(_ words: String) -> Self {
        var check = Self(.network, result, code, "\(reason) \(words)", remedy)
        check.open = open
        return check
    }

    private func changed(
        result: Result? = nil, reason: String? = nil, remedy: String? = nil, code: String? = nil
    ) -> Self {
        var check = Self(step, result ?? self.result, code ?? self.code, reason ?? self.reason, remedy ?? self.remedy)
        check.open = open
        return check
    }

    private static func sentence(_ reason: String, _ subject: String?) -> String {
        subject.map { "\($0): \(reason)" } ?? reason
    }
}

extension [Checkup] {
    /// Whether one of the steps failed.
    func hasError(at steps: Checkup.Step...) -> Bool { contains { $0.result == .error && steps.contains($0.step) } }

    /// Whether a check failed with one of the codes.
    func hasError(_ codes: String...) -> Bool { contains { $0.result == .error && codes.contains($0.code ?? "") } }
}

extension Checkup.Step {
    /// The step at which a key request failed.
    init(_ stage: ContentKeyError.Stage?) {
        switch stage {
        case .contentIdentifier: self = .identifier
        case .lookup: self = .lookup
        case .certificate: self = .certificate
        case .setup, .heartbeat, .teardown: self = .session
        case .playlist, .spc, .license, .answer, nil: self = .license
        }
    }
}
