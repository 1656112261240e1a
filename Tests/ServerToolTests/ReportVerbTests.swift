import Foundation
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// `latchkey-server report` and `explain`, of a record.
@Suite(.timeLimit(.minutes(5))) struct ReportVerbTests {
    private static let now = RecordStage.now
    private static let range = ["--from", "2026-11-26", "--to", "2026-11-27"]

    private func run(_ stage: RecordStage, _ words: [String]) async throws -> ToolRun {
        let key = try stage.test.root.write(TestServer.key(.viewer), to: "key-\(UUID().uuidString).txt")
        return await ToolRun(
            arguments: words + ["--server", stage.test.server.addresses.operators.url, "--key", key])
    }

    private func fill(_ stage: RecordStage) {
        stage.record.add([
            RecordStage.row(.license, at: Self.now - 24 * RecordStage.hour, content: "film", request: "request-1"),
            RecordStage.row(.license, at: Self.now - 1, account: "bob", content: "\u{1b}[2Jseries"),
            RecordStage.row(.refusal, at: Self.now - 2, account: "bob", code: "blocked", request: "request-2"),
        ])
    }

    @Test func `figures are in a table with their total, range and time`() async throws {
        let stage = try await RecordStage()
        fill(stage)
        let report = try await run(stage, ["report"] + Self.range)
        #expect(report.status == .yes, "\(report.error)")
        let lines = report.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(report.output.contains("\nSource: rows.\n"))
        #expect(lines[0] == ["DAY", "LICENSES", "RENEWALS", "REFUSALS", "ACCOUNTS", "DEVICES", "SESSIONS"])
        #expect(lines[1] == ["2026-11-26", "1", "0", "0", "1", "1", "0"])
        #expect(lines[3] == ["all", "2", "0", "1", "2", "2", "0"])
        #expect(report.output.contains("as of 2026-11-27T12:00:00Z."))
        #expect(report.output.contains("The record goes back to 2026-11-26T12:00:00Z"))
        let content = try await run(stage, ["report", "--by", "content"] + Self.range)
        #expect(content.output.contains("series") && !content.output.contains("\u{1b}"))
    }

    @Test func `CSV and JSON match the server's answer`() async throws {
        let stage = try await RecordStage()
        fill(stage)
        let csv = try await run(stage, ["report", "--csv", "--by", "code", "--event", "refusal"] + Self.range)
        #expect(csv.output.hasPrefix("row,code,licenses,"), "\(csv.error)")
        #expect(csv.output.contains("group,blocked,0,0,1,1,1,0,"))
        let tenants = try await run(
            stage, ["report", "--all-tenants", "--by", "tenant", "--exact", "--csv"] + Self.range)
        #expect(tenants.output.contains("group,demo,2,0,1,2,2,0,"), "\(tenants.error)")
        let json = try await run(stage, ["report", "--json", "--tenant", "demo"] + Self.range)
        #expect(JSONValue(Data(json.output.utf8))?["total"]?["licenses"]?.number == 2)
    }

    @Test(
        arguments: [
            (["--last", "2d"], [2, 1]), (["--last", "1h"], [1, 1]), (["--last", "2d", "--content", "film"], [1, 1]),
            (["--last", "2d", "--code", "blocked"], [0, 1]),
            (["--last", "2d", "--event", "license", "--account", "bob"], [1, 0]),
        ] as [([String], [Double])])
    func `the server checks filters and a range's length`(_ words: [String], _ figures: [Double]) async throws {
        let stage = try await RecordStage()
        fill(stage)
        let told = try await run(stage, ["report", "--json", "--to", "2026-11-27T12:00:00Z"] + words)
        let total = JSONValue(Data(told.output.utf8))?["total"]
        #expect([total?["licenses"]?.number, total?["refusals"]?.number] == figures, "\(told.error)")
    }

    @Test func `an account's history and viewer counts are shown`() async throws {
        let stage = try await RecordStage()
        fill(stage)
        var viewers = RecordStage.row(.viewers, at: Self.now - 1)
        viewers.count = 7
        stage.record.add([viewers])
        let history = try await run(stage, ["report", "--history", "--account", "bob", "--limit", "1"] + Self.range)
        #expect(history.output.contains("license") && !history.output.contains("blocked"), "\(history.output)")
        let before = try #require(history.output.firstMatch(of: /--before (\S+)/)?.1)
        let earlier = try await run(
            stage, ["report", "--history", "--account", "bob", "--before", String(before)] + Self.range)
        #expect(earlier.output.contains("blocked") && earlier.output.contains("request-2"), "\(earlier.error)")
        let nobody = try await run(stage, ["report", "--history", "--account", "nobody"] + Self.range)
        #expect(nobody.output.contains("The record has no requests of this account"), "\(nobody.output)")
        let uncounted = try await run(stage, ["report", "--viewers", "--from", "2026-11-26", "--to", "2026-11-26"])
        #expect(uncounted.output.contains("Viewers were not counted"), "\(uncounted.output)")
        #expect(!uncounted.output.contains("At most"), "\(uncounted.output)")
        let most = try await run(stage, ["report", "--viewers"] + Self.range)
        #expect(most.output.contains("At most 7 concurrent viewers"), "\(most.output)")
    }

    @Test(arguments: [
        ["--viewers", "--history", "--account", "a"], ["--history"], ["--csv", "--json"], ["--before", "x"],
        ["--by", "color"], ["--all-tenants", "--tenant", "demo"], ["--all-tenants", "--viewers"],
    ])
    func `conflicting options are refused`(_ words: [String]) async throws {
        #expect(await ToolRun(arguments: ["report"] + words).status == .usage)
    }

    @Test func `a history whose record fails midway is an error`() async throws {
        let stage = try await RecordStage()
        stage.record.add((1...700).map { RecordStage.row(.license, at: Self.now - Int64($0), number: UInt64($0)) })
        let words = ["report", "--history", "--account", "ann", "--csv"] + Self.range
        let whole = try await run(stage, words)
        #expect(whole.status == .yes && whole.output.contains("2026-11-27T11:59:59.300Z"), "\(whole.error)")
        // The first page and how far the record reaches; then the second page fails.
        stage.record.answer(only: 2)
        let torn = try await run(stage, words)
        #expect(torn.status == .no && torn.output.isEmpty, "\(torn.output.count) bytes")
    }

    @Test func `a query that the record cannot answer names a remedy`() async throws {
        let stage = try await RecordStage()
        stage.record.set(.isAway)
        let away = try await run(stage, ["report"])
        #expect(away.status == .no && away.error.contains("did not respond"), "\(away.error)")
        let long = try await run(stage, ["report", "--from", "2020-01-01"])
        #expect(long.status == .no && long.error.contains("400 days"), "\(long.error)")
    }

    @Test func `explain reads forgotten decisions from the record, and says so`() async throws {
        let stage = try await RecordStage()
        fill(stage)
        let told = try await run(stage, ["explain", "request-2"])
        #expect(told.status == .yes, "\(told.error)")
        #expect(told.error.contains("From the record, as of 2026-11-27T12:00:00Z; the node node-a"))
        #expect(told.output.hasPrefix("blocked, without its decision\n"))
        #expect(told.output.contains("Account   bob\n") && told.output.contains("Content   film"))
        let json = try await run(stage, ["explain", "request-2", "--json"])
        #expect(JSONValue(Data(json.output.utf8))?["code"]?.text == "blocked")
        let none = try await run(stage, ["explain", "request-none"])
        #expect(none.status == .no && none.error.contains("goes back to 2026-11-26T12:00:00Z"), "\(none.error)")
    }
}
