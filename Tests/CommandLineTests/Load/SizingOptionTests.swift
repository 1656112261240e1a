import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// `latchkey load --sizing`: its options, its refusals, its output.
@Suite(.timeLimit(.minutes(5))) struct SizingOptionTests {
    private static func plan(_ words: String) throws -> (plan: SizingPlan, isOwn: Bool) {
        let arguments = try ArgumentParser(usage: LoadVerb().usage)
            .parse(["--sizing"] + words.split(separator: " ").map(String.init))
        let console = Console(output: MemorySink(), error: MemorySink(), showsProgress: false) { _ in Data() }
        return try LoadVerb().sizingPlan(arguments, console)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: String
        let change: @Sendable (inout SizingPlan) -> Void
        var isOwn = true
        var testDescription: String { words }
    }

    @Test(arguments: [
        Row(words: "", change: { _ in }, isOwn: false),
        Row(words: "--virtual --seed 9", change: { $0.seed = 9 }, isOwn: false),
        Row(words: "--keys 70", change: { $0.liveKeys = 70 }, isOwn: false),
        Row(words: "--cores 16", change: { $0.coresPerNode = 16 }, isOwn: false),
        Row(words: "--full 55", change: { $0.fullness = 0.55 }, isOwn: false),
        Row(words: "--viewers 3000000", change: { $0.viewers = 3_000_000 }),
        Row(words: "--keys-per-playback 3", change: { $0.keysPerPlayback = 3 }),
        Row(words: "--lease 10m", change: { $0.lease = .seconds(600) }),
        Row(words: "--heartbeat 20s", change: { $0.heartbeat = .seconds(20) }),
        Row(words: "--kick-off 90s", change: { $0.kickOff = .seconds(90) }),
        Row(words: "--watch 20m", change: { $0.watching = .seconds(1_200) }),
        Row(words: "--retry 5", change: { $0.retries = 5 }),
        Row(words: "--nodes 4 --primaries 3", change: { ($0.nodes, $0.primaries) = (4, 3) }),
    ])
    func `an option sets its part of the plan`(row: Row) throws {
        var expected = SizingPlan()
        row.change(&expected)
        let (plan, isOwn) = try Self.plan(row.words)
        #expect("\(plan)" == "\(expected)")
        #expect(isOwn == row.isOwn)
    }

    @Test func `a policy sets renewals and heartbeats, and whether Redis is asked`() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            #"{"version": 1, "validity": {"type": "lease", "lease": "10m", "renewAt": 0.5, "jitter": 0.2}, "concurrency": {"limit": 2, "heartbeat": "1m"}}"#,
            to: "counts.json")
        try folder.write(#"{"version": 1, "validity": {"type": "unlimited"}}"#, to: "nothing.json")
        let plan = try Self.plan("--policy \(folder.file("counts.json").path)").plan
        #expect(plan.lease == .seconds(600) && plan.heartbeat == .seconds(60) && plan.asksSessions)
        #expect(plan.renewals.map(\.seconds) == Array(240..<300))
        #expect(abs(plan.renewals.reduce(0) { $0 + $1.weight } - 1) < 1e-9)
        let nothing = folder.file("nothing.json").path
        let free = SizingResult("free", try Self.plan("--policy \(nothing) --viewers 1000").plan)
        #expect(free.primaries.count == 0 && free.primaries.needed == 0 && free.licenses == 0 && free.redisBytes == 0)
        for words in ["--policy \(nothing) --primaries 2", "--policy \(nothing) --lease 5m"] {
            #expect(throws: UsageError.self, "\(words)") { try Self.plan(words) }
        }
    }

    @Test func `costs come from a file, strictly`() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"license": 200, "redisHeartbeat": 20.5}"#, to: "costs.json")
        let costs = try Self.plan("--costs \(folder.file("costs.json").path)").plan.costs
        #expect(costs.license == 200 && costs.redisHeartbeat == 20.5 && costs.heartbeat == SizingCosts().heartbeat)
        // Each member changes a figure of the table.
        var plan = SizingPlan()
        (plan.viewers, plan.heartbeat, plan.kickOff, plan.nodes, plan.primaries) = (
            40_000, .seconds(30), .seconds(5), 1, 1
        )
        plan.coresPerNode = 4
        let usual = SizingReport(plan, isOwn: true, crowds: []).rows.map(\.cells)
        for name in SizingCosts.form.paths {
            try folder.write(#"{"\#(name)": 7000}"#, to: "one.json")
            plan.costs = try Self.plan("--costs \(folder.file("one.json").path)").plan.costs
            #expect(SizingReport(plan, isOwn: true, crowds: []).rows.map(\.cells) != usual, "\(name)")
        }
        let wrong = [(#"{"licence": 200}"#, "licence"), (#"{"license": 0}"#, "license"), ("[]", "sizingCosts")]
        for (text, place) in wrong {
            try folder.write(text, to: "wrong.json")
            let error = #expect(throws: (any Error).self) {
                try Self.plan("--costs \(folder.file("wrong.json").path)")
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains(place))
        }
    }

    @Test(arguments: [
        ("--nodes 2", "--nodes needs --sizing"), ("--virtual --kick-off 60s", "--kick-off needs --sizing"),
        ("--sizing --rate 5", "--rate has no effect with --sizing"), ("--sizing --trace t.html", "--trace"),
        ("--sizing --kick-off 2h", "at most 1h"), ("--sizing --full 101", "at most 100"),
        ("--sizing --nodes 1001", "at most 1000"), ("--sizing --primaries 1001", "at most 1000"),
        ("--sizing --viewers 100000001", "at most 100000000"), ("--sizing --cores 1025", "at most 1024"),
        ("--sizing --keys-per-playback 65", "at most 64"), ("--sizing --retry 11", "at most 10"),
        ("--sizing --license-url http://127.0.0.1:1/", "--license-url has no effect"),
    ])
    func `conflicting options are refused by name`(words: String, reason: String) async {
        let run = await RecordedRun(["load"] + words.split(separator: " ").map(String.init), tool: .standard)
        #expect(run.status == .usage)
        #expect(run.error.contains(reason), "\(run.error)")
    }

    @Test func `the table covers one and ten million`() async throws {
        let run = await RecordedRun("load", "--sizing", "--json")
        #expect(run.status == .yes, "\(run.error)")
        let columns = try #require(run.json["columns"] as? [[String: Any]])
        #expect(columns.count == 6)
        let costs = SizingCosts()
        // The dearer measurement is the plan, because a core that is half idle pays more for a request.
        #expect(costs.license > 2 * SizingCosts.best.license && costs.heartbeat > 2 * SizingCosts.best.heartbeat)
        #expect(costs.redisLicense > 2 * SizingCosts.best.redisLicense)
        for (index, viewers) in [1e6, 1e6, 1e6, 1e7, 1e7, 1e7].enumerated() {
            func figure(_ name: String, _ part: String? = nil) throws -> Double {
                let value = part.flatMap { (columns[index][$0] as? [String: Any])?[name] } ?? columns[index][name]
                return try #require(value as? Double)
            }
            // Two keys each, after 228 s on average or all within 60 s; heartbeats of 30 s.
            let licenses = [viewers * 2 / 227.5, viewers * 2 / 227.5, viewers * 2 / 60][index % 3]
            let beats = index % 3 == 0 ? 0 : viewers / 30
            #expect(try abs(figure("licensesAtMost") / licenses - 1) < 0.08, "\(index)")
            #expect(try abs(figure("heartbeatsAtMost") - beats) <= beats * 0.05, "\(index)")
            let cores = (licenses * costs.license + beats * costs.heartbeat) / 1e6 / 0.7
            let primaries = (licenses * costs.redisLicense + beats * costs.redisHeartbeat) / 1e6 / 0.7
            #expect(try abs(figure("exactlyNeeded", "nodes") / cores - 1) < 0.08, "\(index)")
            #expect(try abs(figure("exactlyNeeded", "primaries") / primaries - 1) < 0.08, "\(index)")
            let best = (licenses * 465 + beats * 300) / 1e6 / 0.7
            #expect(try abs(figure("exactlyNeededAtBest", "nodes") / best - 1) < 0.08, "\(index)")
            #expect(try figure("needed", "nodes") == (figure("exactlyNeeded", "nodes") / 8).rounded(.up))
            #expect(try figure("postgreSQLConnections") == figure("needed", "nodes") * 11)
            #expect(try figure("refused") == 0 && figure("refusedByStore") == 0)
            #expect(columns[index]["suffices"] as? Bool == true)
        }
    }

    @Test func `a custom crowd adds a column, judged in words and on a page`() async throws {
        let folder = try TemporaryFolder()
        let page = folder.file("sizing.html").path
        let run = await RecordedRun(
            "load", "--sizing", "--viewers", "2000000", "--heartbeat", "30s", "--kick-off", "60s", "--nodes", "4",
            "--primaries", "9", "--html", page)
        #expect(run.status == .no, "\(run.error)")
        #expect(run.output.contains("yours, 2 M"))
        #expect(run.output.contains("4 nodes and 9 primaries do not suffice for 2,000,000 viewers"))
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(text.contains("the fullest primary"))
        #expect(text.contains("do not suffice") && text.contains("refusals") && text.contains("yours, 2 M"))
        #expect(!text.contains("<script") && text.contains("prefers-color-scheme: dark"))
        // At 400 px headings wrap, and each table and chart scrolls on its own.
        #expect(text.contains("overflow-wrap: anywhere") && text.contains(".sheet { overflow-x: auto }"))
        let scrolled = text.matches(of: /<div class="sheet"[^>]*><(?:table|svg)/).count
        #expect(scrolled == 4 && text.matches(of: /<(?:table|svg)[ >]/).count == 4)
    }

    @Test func `a load without latency shows none and folds its rows`() async throws {
        let folder = try TemporaryFolder()
        let page = folder.file("virtual.html").path
        let run = await RecordedRun("load", "--virtual", "--rate", "20", "--for", "5s", "--html", page)
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(!text.contains("p99") && !text.contains("Latency") && text.contains("<details>"))
        #expect(!run.output.contains("P99 ms"))
    }
}
