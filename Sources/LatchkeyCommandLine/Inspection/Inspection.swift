import Foundation
import LatchkeyFairPlay
import LatchkeyTerminal

/// The contents of a file and its problems: JSON for tools, lines for people.
struct Inspection: Sendable {
    /// A name and its value.
    typealias Fact = (name: String, value: String)

    let kind: Kind
    /// The facts for people, in order. A value may have several lines.
    let facts: [Fact]
    let problems: [InspectionFinding]
    /// The facts for tools; encodes as an object.
    let report: any Encodable & Sendable

    /// The kinds of files that can be inspected.
    enum Kind: String, Sendable, CaseIterable, Encodable { case spc, ckc, certificate, token }

    /// The first error; `nil` if there are only warnings.
    var failure: Failure? { problems.first { $0.severity == .error }.map(Failure.init) }

    var text: String {
        let width = facts.map(\.name.count).max() ?? 0
        let lines = facts.map { fact in
            let indented = fact.value.split(separator: "\n", omittingEmptySubsequences: false).map(\.visible)
                .joined(separator: "\n" + String(repeating: " ", count: width + 2))
            return fact.name + String(repeating: " ", count: width - fact.name.count + 2) + indented
        }
        return (lines + problems.map(\.text)).joined(separator: "\n")
    }
}

extension Inspection: Encodable {
    private enum CodingKeys: String, CodingKey { case kind, error }

    /// Encodes the report's own fields, plus `kind` and, if something will not work, `error`.
    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(failure, forKey: .error)
    }
}

extension Failure {
    /// A finding of an inspection.
    init(_ finding: InspectionFinding) {
        self.init(code: finding.code, reason: finding.reason, remedy: finding.remedy)
    }
}

extension InspectionFinding {
    /// For people: `Warning: It is odd. Look at it. (odd)`.
    fileprivate var text: String { "\(severity.rawValue.capitalized): \(Failure(self).text)" }
}
