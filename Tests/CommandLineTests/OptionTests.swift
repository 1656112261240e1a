import Foundation
import LatchkeyTerminal
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyServerTool

/// Each option of `latchkey` and `latchkey-server` has a test that gives it.
///
/// The options come from the verbs' own usages, so that a new one fails here until a test runs a verb with it.
@Suite(.timeLimit(.minutes(1))) struct OptionTests {
    /// The ways to run a verb in tests, besides the verb's own words.
    private static let runners = ["doctor": ["DoctorStage("], "serve": ["ServeProcess("], "run": ["ServingProcess("]]

    /// The tests' sources but this one, with single blanks.
    private static let sources: [String] = {
        let own = URL(filePath: #filePath)
        let tests = own.deletingLastPathComponent().deletingLastPathComponent()
        let paths = FileManager.default.enumerator(atPath: tests.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/" + own.lastPathComponent) }.compactMap {
            path in
            let text = try? String(contentsOf: tests.appending(path: path), encoding: .utf8)
            return text?.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }()

    private static func isRun(_ verb: String, in source: String) -> Bool {
        let words = verb.split(separator: " ").map { "\"\($0)\"" }.joined(separator: ", ")
        return ([words] + (runners[verb] ?? [])).contains { source.contains($0) }
    }

    private static func gives(_ option: String, _ source: String) -> Bool {
        source.ranges(of: option).contains { range in
            let next = source[range.upperBound...].first
            return next?.isLetter != true && next != "-"
        }
    }

    @Test(arguments: ["latchkey", "latchkey-server"])
    func `every option is in a test that runs one of its verbs`(_ program: String) {
        let tool = program == "latchkey" ? CommandLineTool.standard : .licenseServer
        #expect(Self.sources.count > 100)
        // An option that verbs share is one: by its name and its description.
        var verbs: [[String]: [String]] = [:]
        for usage in tool.verbs.map(\.usage) {
            for option in usage.options { verbs[[option.name, option.help], default: []].append(usage.name) }
        }
        #expect(verbs.count > 15)
        let without = verbs.filter { option, verbs in
            !Self.sources.contains { source in
                Self.gives(option[0], source) && verbs.contains { Self.isRun($0, in: source) }
            }
        }
        #expect(without.map { "\($0.value.joined(separator: ", ")) \($0.key[0])" }.sorted() == [])
    }

    @Test func `an option with a shared prefix is not taken for the other`() {
        #expect(Self.gives("--out", #"["play", "--out", "x"]"#))
        #expect(!Self.gives("--out", #"["play", "--output", "x", "--out-dir"]"#))
        #expect(Self.isRun("wire request", in: #"run(["wire", "request", "--spc"])"#))
        #expect(!Self.isRun("wire request", in: #"run(["wire", "response"])"#))
    }
}
