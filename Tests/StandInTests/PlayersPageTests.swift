import Foundation
import StandInEngine
import Testing

/// `Documentation/Players.md`, the page that the stand-ins are written from.
///
/// What no source states is marked *inferred* there, and names the trial on a device that would show it. What the stand-in refuses has a test.
@Suite struct PlayersPageTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Trial: Decodable {
        let number: Int
        let id: String
    }

    private static func text(_ path: String) throws -> String {
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

    /// Each rule by which the stand-in is as strict as a device, with the test that breaks it.
    private static let strictness = [
        "An interstitial plays an equivalent asset.":
            "an interstitial plays the app's own asset only if that was made for the primary asset",
        "A stored key is bound to its key identifier.": "a stored key is refused for another key",
        "An enqueued item may load.": "an enqueued item loads before its turn",
        "An item has one place in a queue.": "a queue plays its items one after the other, and each has one place",
        "A looper plays replicas of one asset.": "a looper plays replicas with one asset until it is disabled",
        "A download asks for keys.": "a download requests the keys of its asset, and playback reuses them",
        "A download needs a session.": "a download of an unprotected asset fails",
        "An asset that downloads is loading.": "an asset cannot be protected once it downloads",
        "A session asks once for a key.":
            "a lease plays until its end, and then only after a renewal, for the session asks once",
        "HDCP shows in the player alone.": "only the player reports an obscured picture",
    ]

    @Test func `each strictness rule has a test that breaks it`() throws {
        let files = FileManager.default.enumerator(
            at: Self.root.appending(path: "Tests/StandInTests"), includingPropertiesForKeys: nil)
        let own = URL(fileURLWithPath: #filePath).lastPathComponent
        let tests = try #require(files).compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && $0.lastPathComponent != own }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        for (rule, test) in Self.strictness { #expect(tests.contains("func `\(test)`"), "\(rule)") }
        for rule in RuleViolation.Rule.allCases { #expect(tests.contains(".\(rule)"), "\(rule)") }
    }
}
