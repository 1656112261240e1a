import Foundation
import Latchkey
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyTesting
import Testing

@testable import LatchkeyBench

/// The page of figures, and the history behind it.
@Suite struct BenchPageTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)

    private let console = Console(output: Nowhere(), error: Nowhere(), showsProgress: false) { _ in Data() }

    private struct Nowhere: Sink {
        let failure: String? = nil
        func write(_ data: Data) {}
    }

    private func figure(_ value: Double?) -> Figure {
        Figure(name: "Key <discovery>", value: value, unit: .megabytesPerSecond, aim: .atLeast(1_000), note: "n")
    }

    private func run(_ value: Double?, day: Double, build: String = "release") -> BenchRun {
        BenchRun([figure(value)], at: Self.date.addingTimeInterval(day * 86_400), build: build)
    }

    @Test func `a run is added to existing ones, and other lines are kept`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("made/by/bench.jsonl")
        _ = try BenchHistory.adding(run(1, day: 1), to: path, console)
        let first = try String(contentsOfFile: path, encoding: .utf8)
        try (first + "no run\n{\"date\": 3}").write(toFile: path, atomically: true, encoding: .utf8)
        let history = try BenchHistory.adding(run(2, day: 0), to: path, console)
        #expect(history.runs == [run(2, day: 0), run(1, day: 1)] && history.unreadable == 2)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4 && lines[1] == "no run" && lines[2] == "{\"date\": 3}")
    }

    @Test func `the page names missed aims and shows runs of the same build`() {
        let runs = [run(1_500, day: 0), run(9, day: 1, build: "debug"), run(900, day: 2)]
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let lines = runs.compactMap { try? encoder.encode($0) }.joined(separator: Data("\n".utf8))
        let page = BenchPage(figures: [figure(900)], history: BenchHistory(Data(lines)), run: runs[2]).page
        #expect(
            page.contains("<li>Key &lt;discovery&gt;: 900 MB/s, aim ≥ 1000 MB/s</li>")
                && page.contains("<title>0 of 1 aims met"))
        #expect(page.contains("after 1 earlier run of its kind") && !page.contains("9 MB/s<"))
        #expect(page.contains("in 2 runs: from 900 MB/s to 1500 MB/s, at last 900 MB/s, aimed at ≥ 1000 MB/s."))
        #expect(page.matches(of: /class="dot missed"/).count == 1 && page.matches(of: /<circle/).count == 1)
        #expect(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"))
    }

    @Test func `a page's table gets its figures, with commit, machine and date`() throws {
        let table = BenchTable(in: ".", commit: "abc1234", at: Self.date)
        let other = Figure(name: "RSA in batches of eight", value: nil, unit: .share, note: "a | b")
        let page =
            "before\n<!-- bench -->\nold\n<!-- /bench -->\n\n<!-- bench: in batches of eight -->\n<!-- /bench -->\nafter\n"
        let text = try table.text(of: "x.md", page, [figure(1_500), other])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let (head, last) = (
            ["| What | Measured | Aim | Made of |", "| --- | --- | --- | --- |"],
            "| RSA in batches of eight | not measured | – | a \\| b |"
        )
        #expect(lines.first == "before" && lines.suffix(2) == ["after", ""] && !text.contains("old"))
        #expect(lines[1] == "<!-- bench -->" && lines[2].contains("abc1234 on 2026-01-01: "))
        #expect(
            Array(lines[4...8]) == head + [
                "| Key <discovery> | 1500 MB/s | ≥ 1000 MB/s | n |", last, "<!-- /bench -->",
            ])
        #expect(Array(lines[10...15]) == ["<!-- bench: in batches of eight -->", lines[2], ""] + head + [last])
        #expect(try table.text(of: "x.md", text, [figure(1_500), other]) == text)
    }

    @Test(arguments: ["no table", "<!-- bench -->\nno end", "<!-- bench: -->\n<!-- /bench -->"])
    func `a page with half a table is refused`(_ page: String) {
        #expect { try BenchTable(in: ".", commit: "c", at: Self.date).text(of: "x.md", page, []) } throws: {
            ($0 as? Diagnosis)?.code == "pageWithoutTable"
        }
    }

    @Test func `a run with a failed part leaves the pages unchanged`() throws {
        let folder = try TemporaryFolder()
        let table = BenchTable(in: folder.path("."), commit: "c", at: Self.date)
        #expect { try table.write([figure(1), .failed("a part", Diagnosis.keyLost)], console) } throws: {
            ($0 as? Diagnosis)?.reason.contains("a part") == true
        }
    }

    @Test func `a short or partial run writes no page`() {
        #expect { try BenchTable(in: ".", isWhole: false) } throws: { ($0 as? Diagnosis)?.code == "figuresMeanLittle" }
    }

    @Test(arguments: BenchTable.pages) func `every page of the bench has a table`(_ page: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        _ = try BenchTable(in: root.path, commit: "c", at: Self.date).text(of: page, text, [])
    }

    @Test(arguments: [[], [nil], [5], [5, 5], [nil, 0, -1e300, 1e300]] as [[Double?]])
    func `any history is drawn with valid numbers`(_ values: [Double?]) {
        let html = figure(values.last ?? nil).chart(of: values).source
        #expect(!html.contains("nan") && !html.contains("inf"))
    }
}
