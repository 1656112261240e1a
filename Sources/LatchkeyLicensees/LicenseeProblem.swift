import LatchkeyCore

/// One thing that keeps a server from starting with a licensee's credentials or derivation, by its place in the configuration.
package struct LicenseeProblem: DiagnosableError, Equatable {
    /// Where, such as `credentials[1].key`.
    package let place: String
    package let code: String
    package let reason: String
    package let remedy: String

    init(_ place: String, _ error: any Error) {
        let known = error as? any DiagnosableError
        self.place = place
        code = known?.code ?? "licenseeInvalid"
        reason = known?.reason ?? "\(type(of: error))"
        remedy = known?.remedy ?? "Look at the configuration there."
    }

    /// The place, the problem and the remedy, in one line.
    package var description: String { "\(place): \(reason) \(remedy) (\(code))" }
}

/// Everything that keeps a server from starting, and not the first alone.
package struct LicenseeProblems: DiagnosableError, Equatable {
    /// All problems, in the order of the configuration.
    package let problems: [LicenseeProblem]

    package var code: String { "licenseeInvalid" }
    package var reason: String { problems.map { "\($0.place): \($0.reason)" }.joined(separator: " ") }
    package var remedy: String { problems.first?.remedy ?? "Correct the configuration." }
}
