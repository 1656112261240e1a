import Foundation
import StandInEngine
import Testing

/// `Documentation/Players.md`, the page that the stand-ins are based on.
///
/// Statements without a source are *inferred* there, with the trial that would prove them. `StandInRule` has the table of refusals.
@Suite struct PlayersPageTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Trial: Decodable {
        let number: Int
        let id: String
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func trials() throws -> [Trial] {
        try JSONDecoder().decode(
            [Trial].self, from: Data(contentsOf: root.appending(path: "acceptance/observations.json")))
    }

    @Test func `trials are numbered without gaps, and the app's copy of the list is current`() throws {
        let trials = try Self.trials()
        #expect(trials.map(\.number) == Array(1...trials.count))
        #expect(Set(trials.map(\.id)).count == trials.count)
        let copy = try Self.text("acceptance/Acceptance.swiftpm/Sources/ObservationList.swift")
        for line in try Self.text("acceptance/observations.json").split(separator: "\n") {
            #expect(copy.contains(line), "Run acceptance/prepare: \(line)")
        }
    }

    @Test func `every inferred line names an existing trial`() throws {
        let numbers = Set(try Self.trials().map { "\($0.number)" })
        for line in try Self.text("Documentation/Players.md").split(separator: "\n") {
            for claim in line.components(separatedBy: "*inferred*").dropFirst() {
                let number = claim.firstMatch(of: /^, trial ([0-9]+)/).map { String($0.1) }
                #expect(number.map(numbers.contains) == true, "\(line)")
            }
        }
    }
}
