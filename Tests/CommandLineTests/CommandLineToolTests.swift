import Foundation
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct CommandLineToolTests {
    private let tool = CommandLineTool.latchkey([SampleVerb()])

    @Test func `help without a verb is printed to standard error`() async {
        let run = await RecordedRun(tool: tool)
        #expect(run.status == .usage)
        #expect(run.output == "")
        #expect(run.error.contains("Usage: latchkey VERB"))
    }

    @Test(arguments: [["--help"], ["-h"], ["help"]])
    func `the help lists the verbs`(words: [String]) async {
        let run = await RecordedRun(words, tool: tool)
        #expect(run.status == .yes)
        #expect(run.output.contains("sample  print what it was given"))
        #expect(run.error == "")
    }

    @Test(arguments: [["help", "sample"], ["sample", "--help"], ["sample", "-h"], ["sample", "--nonsense", "-h"]])
    func `a verb's help lists all its arguments`(words: [String]) async {
        let run = await RecordedRun(words, tool: tool)
        #expect(run.status == .yes)
        #expect(run.output.contains("Usage: latchkey sample --out FILE [options] PLACE"))
        #expect(run.output.contains("--mode fast|slow"))
        #expect(run.output.contains("a parameter (repeatable)"))
        #expect(run.output.contains("latchkey sample --out FILE here"))
        #expect(run.output.contains("; 2 wrong usage."))
    }

    @Test func `the version is printed`() async {
        let run = await RecordedRun("--version", tool: tool)
        #expect(run.output == "latchkey \(CommandLineTool.version)\n")
    }

    @Test(arguments: [["smaple"], ["help", "samples"], ["--sample"]])
    func `an unknown verb gets a suggestion`(words: [String]) async {
        let run = await RecordedRun(words, tool: tool)
        #expect(run.status == .usage)
        #expect(run.error.contains("Did you mean: latchkey sample"))
    }

    @Test func `an unrecognizable verb gets a hint at the list`() async {
        let run = await RecordedRun("xylophone", tool: tool)
        #expect(run.status == .usage)
        #expect(run.error.contains("latchkey --help"))
    }

    @Test func `a failure goes to the error stream`() async {
        let run = await RecordedRun("sample", "p", "--out", "o", "--fail", "diagnosed", tool: tool)
        #expect(run.status == .no)
        #expect(run.output == "")
        #expect(run.error == "latchkey: cellar cannot be read: it is dark. Check path and permissions. (cannotRead)\n")
    }

    @Test func `with json a failure is a result`() async throws {
        let run = await RecordedRun("sample", "p", "--out", "o", "--fail", "diagnosed", "--json", tool: tool)
        #expect(run.status == .no)
        #expect(run.error == "")
        let error = try #require(run.json["error"] as? [String: String])
        #expect(error["code"] == "cannotRead")
        #expect(error["reason"] == "cellar cannot be read: it is dark.")
        #expect(error["remedy"] == "Check path and permissions.")
    }

    @Test func `an unknown error shows only its type`() async {
        let run = await RecordedRun("sample", "p", "--out", "o", "--fail", "unknown", tool: tool)
        #expect(run.status == .no)
        #expect(run.error.contains("Unknown"))
        #expect(!run.error.contains("hunter2"))
    }

    @Test func `progress is for terminals`() async {
        let plain = await RecordedRun("sample", "p", "--out", "o", tool: tool)
        let terminal = await RecordedRun(["sample", "p", "--out", "o"], tool: tool, showsProgress: true)
        #expect(plain.error == "")
        #expect(terminal.error.contains("at work"))
        #expect(terminal.output == plain.output)
    }

    @Test(arguments: CommandLineTool.standard.verbs.map(\.usage.name))
    func `every verb explains itself`(name: String) async throws {
        let run = await RecordedRun(name, "--help")
        #expect(run.status == .yes)
        let lines = run.output.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("  latchkey \(name)") }.isEmpty == false, "an example")
        #expect(lines.filter { $0.count > 120 } == [])
        let verb = try #require(CommandLineTool.standard.verbs.first { $0.usage.name == name })
        let names = verb.usage.options.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(verb.usage.options.filter { $0.help.isEmpty }.isEmpty)
    }

    @Test func `the help of play fits a terminal`() async {
        let lines = await RecordedRun("play", "--help").output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 40, "\(lines.count) lines")
        #expect(lines.allSatisfy { $0.count <= 132 })
        #expect(lines.contains { $0.hasSuffix("; else a demo stream at the strict emulator of --vendor or --source") })
    }
}
