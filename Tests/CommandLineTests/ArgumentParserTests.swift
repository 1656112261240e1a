import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct ArgumentParserTests {
    private func run(_ words: [String]) async -> RecordedRun {
        await RecordedRun(["sample"] + words, tool: CommandLineTool.latchkey([SampleVerb()]))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        let name: String
        let value: String
        var testDescription: String { words.joined(separator: " ") }
    }

    @Test(arguments: [
        Row(words: ["--out", "o", "p"], name: "place", value: "p"),
        Row(words: ["p", "--out", "o"], name: "out", value: "o"),
        Row(words: ["--out=o", "p"], name: "out", value: "o"),
        Row(words: ["--out=a=b", "p"], name: "out", value: "a=b"),
        Row(words: ["--out", "-", "p"], name: "out", value: "-"),
        Row(words: ["--out", "o", "-"], name: "place", value: "-"),
        Row(words: ["--out", "o", "-5"], name: "place", value: "-5"),
        Row(words: ["--out", "o", "--", "--place"], name: "place", value: "--place"),
        Row(words: ["--out", "o", "--", "--help"], name: "place", value: "--help"),
        Row(words: ["--out", "o", "p", "--text", "-5"], name: "text", value: "-5"),
        Row(words: ["--out", "o", "p", "--text=--force"], name: "text", value: "--force"),
        Row(words: ["--out", "o", "p", "--text="], name: "text", value: ""),
        Row(words: ["--out", "o", "p", "--force"], name: "force", value: "true"),
        Row(words: ["--out", "o", "p"], name: "force", value: "false"),
        Row(words: ["--out", "o", "p", "--count", "0"], name: "count", value: "0.0"),
        Row(words: ["--out", "o", "p", "--count", "4294967295"], name: "count", value: "4294967295.0"),
        Row(words: ["--out", "o", "p", "--mode", "slow"], name: "mode", value: "2"),
        Row(words: ["--out", "o", "p", "--key", "AbCd"], name: "key", value: "abcd"),
        Row(
            words: ["--out", "o", "p", "--set", "b=1", "--set=a=x=y", "--set", "c="], name: "set", value: "b→1,a→x=y,c→"
        ),
    ])
    func `words become values`(row: Row) async {
        let run = await run(row.words)
        #expect(run.status == .yes)
        #expect(run.json[row.name] as? String == row.value)
    }

    @Test(arguments: [
        (["--out", "o"], "PLACE is missing"),
        (["p"], "--out FILE is missing"),
        (["--out", "o", "p", "q"], "one argument too many: \"q\""),
        (["--out", "o", "p", "--out", "r"], "--out was given twice"),
        (["p", "--out"], "--out needs a value: FILE"),
        (["p", "--out", "--force"], "--out needs a value: FILE"),
        (["p", "--out", ""], "--out needs a path"),
        (["p", "--out", "o", "--force=yes"], "--force takes no value"),
        (["p", "--out", "o", "-x"], "there is no option -x"),
        (["p", "--out", "o", "--count", "-5"], "from 0 to 4294967295, not \"-5\""),
        (["p", "--out", "o", "--count", "4294967296"], "from 0 to 4294967295"),
        (["p", "--out", "o", "--count", "1.5"], "--count needs a whole number"),
        (["p", "--out", "o", "--mode", "fats"], "did you mean fast?"),
        (["p", "--out", "o", "--key", "abc"], "--key needs 4 hexadecimal digits"),
        (["p", "--out", "o", "--set", "=x"], "--set needs NAME=VALUE"),
        (["p", "--out", "o", "--fail", "usage"], "these do not go together"),
    ])
    func `wrong usage is named and ends with 2`(words: [String], message: String) async {
        let run = await run(words + ["--json"])
        #expect(run.status == .usage)
        #expect(run.output == "")
        #expect(run.error.contains(message))
        #expect(run.error.split(separator: "\n").count == 2, "a message and a hint")
    }

    @Test(arguments: [("--ot", "--out"), ("--froce", "--force"), ("--hlep", "--help"), ("--cuont=3", "--count")])
    func `a misspelled option gets a suggestion`(wrong: String, right: String) async {
        let run = await run(["p", wrong])
        #expect(run.error.contains("Did you mean: \(right)"))
    }

    @Test func `a forgotten value says how to write one with dashes`() async {
        let run = await run(["p", "--text", "--force"])
        #expect(run.error.contains("--text=--force"))
    }

    @Test(arguments: [["--set", "hunter2"], ["--key", "hunter2"]])
    func `a refused value that may be secret is not repeated`(words: [String]) async {
        let run = await run(["p", "--out", "o"] + words)
        #expect(run.status == .usage)
        #expect(!run.error.contains("hunter2"))
    }
}
