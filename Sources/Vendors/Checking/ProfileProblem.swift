public import Foundation
public import LatchkeyCore

/// Something wrong with a profile's file: where it stands, and what is wrong.
public struct ProfileProblem: Sendable, Hashable, Codable {
    /// The place in the JSON document, such as `license.headers[0].value`; `$` is the whole document.
    public let field: String
    /// What is wrong there, in one sentence.
    public let reason: String

    /// Makes a problem.
    public init(field: String, reason: String) {
        self.field = field
        self.reason = reason
    }
}

/// A profile's file that cannot be used.
public struct ProfileError: DiagnosableError, Hashable {
    /// All that is wrong; not empty.
    public let problems: [ProfileProblem]

    /// - Parameter problems: what is wrong, at least one.
    public init(problems: [ProfileProblem]) { self.problems = problems }

    public var code: String { "profileMalformed" }

    public var reason: String {
        let shown = problems.prefix(3).map { "\($0.field): \($0.reason)" }.joined(separator: " ")
        return problems.count > 3 ? "\(shown) There are \(problems.count - 3) more problems." : shown
    }

    public var remedy: String { "Correct the profile until latchkey vendors check finds nothing." }
}

extension VendorProfile {
    /// Reads a profile from JSON, as strictly as `problems(inJSON:)`.
    /// - Throws: `ProfileError` with every problem.
    public init(json: Data) throws(ProfileError) {
        let reading = ProfileReading(json)
        guard let profile = reading.profile, reading.problems.isEmpty else {
            throw ProfileError(problems: reading.problems)
        }
        self = profile
    }

    /// What is wrong with a profile's JSON: members that are missing, misspelled or of the wrong form, and rules that cannot
    /// work. Of each member of the profile the first wrong form is found, and every misspelled name.
    public static func problems(inJSON json: Data) -> [ProfileProblem] { ProfileReading(json).problems }

    /// What is wrong with a profile beyond its form: rules that read what nobody gives, parameters that nothing reads, names
    /// and addresses of the wrong shape.
    public var problems: [ProfileProblem] { ProfileCheck(self).problems }
}
