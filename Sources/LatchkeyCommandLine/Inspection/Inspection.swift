import Foundation
import LatchkeyFairPlay
import LatchkeyTerminal

/// What a file holds and what is wrong with it: JSON for tools, lines for people.
struct Inspection: Sendable {
    /// A name and what stands there.
    typealias Fact = (name: String, value: String)

    let kind: Kind
    /// What people are shown, in order. A value may have several lines.
    let facts: [Fact]
    let problems: [InspectionFinding]
    /// What tools are shown; encodes as an object.
    let report: any Encodable & Sendable

    /// What can be inspected.
    enum Kind: String, Sendable, CaseIterable, Encodable { case spc, ckc, certificate, token }

    /// The first error; `nil` if there are warnings at most.
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

    /// The report's own fields, with `kind` and, where something will not work, `error` beside them.
    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(failure, forKey: .error)
    }
}

extension Failure {
    /// Something that an inspection found.
    init(_ finding: InspectionFinding) {
        self.init(code: finding.code, reason: finding.reason, remedy: finding.remedy)
    }
}

extension InspectionFinding {
    /// For people: `Warning: It is odd. Look at it. (odd)`.
    fileprivate var text: String { "\(severity.rawValue.capitalized): \(Failure(self).text)" }
}
