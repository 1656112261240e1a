public import Foundation
public import LatchkeyCore
import LatchkeyForms

/// A problem in a profile's file: its place and the reason.
package struct ProfileProblem: Sendable, Hashable, Encodable {
    /// The place in the JSON document, such as `license.headers[0].value`; `$` is the whole document.
    package let field: String
    /// The problem, in one sentence.
    package let reason: String

    /// Makes a problem.
    package init(field: String, reason: String) {
        self.field = field
        self.reason = reason
    }
}

/// The error for a profile's file with problems.
public struct ProfileError: DiagnosableError, Hashable {
    /// All problems; not empty.
    package let problems: [ProfileProblem]

    /// - Parameter problems: the problems, at least one.
    package init(problems: [ProfileProblem]) { self.problems = problems }

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

    /// Reads a profile whose rules are right. Its settings may be wrong, for instance because a support bundle is about them.
    /// - Throws: `ProfileError` with every other problem.
    package init(jsonWithAnySettings json: Data) throws(ProfileError) {
        let reading = ProfileReading(json)
        let problems = reading.problems.filter { !$0.field.hasPrefix("settings.") }
        guard let profile = reading.profile, problems.isEmpty else { throw ProfileError(problems: reading.problems) }
        self = profile
    }

    /// The problems of a profile's JSON: members that are missing, misspelled, of the wrong form or duplicated. If there are none, rules
    /// that cannot work.
    package static func problems(inJSON json: Data) -> [ProfileProblem] { ProfileReading(json).problems }

    /// The problems of a profile beyond its form: rules that read unknown names, parameters that no rule reads, names and addresses of
    /// the wrong form.
    package var problems: [ProfileProblem] { ProfileCheck(self).problems }
}

/// A profile's JSON, read as far as possible.
private struct ProfileReading {
    /// The profile; `nil` if the form is wrong.
    let profile: VendorProfile?
    let problems: [ProfileProblem]

    init(_ json: Data) {
        // Editors of Windows begin a text with a byte order mark.
        let text = json.starts(with: [0xef, 0xbb, 0xbf]) ? json.dropFirst(3) : json
        do throws(JSONProblems) {
            profile = try VendorProfile.form.decode(Array(text), code: "profileMalformed")
            problems = profile?.problems ?? []
        } catch {
            profile = nil
            problems = error.problems.map {
                ProfileProblem(field: $0.place.isEmpty ? "$" : $0.place, reason: "\($0.what) \($0.remedy)")
            }
        }
    }
}
