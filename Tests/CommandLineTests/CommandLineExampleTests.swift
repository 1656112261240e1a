import Foundation
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// The tool accepts every command line of the README, of the tools' page and of its help: each verb exists, and so do its options.
@Suite struct CommandLineExampleTests {
    private static let tool = CommandLineTool.standard

    private static let pages: [String] = ["README.md", "Documentation/CommandLine.md"].flatMap { page in
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(page)")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.matches(of: /`(latchkey [^`]+)`/).map { String($0.output.1) }
    }

    /// Adjacent lines of an example are one command line, as a shell reads it.
    private static let help: [String] = tool.verbs.flatMap(\.usage.examples).map { $0.replacing("\\\n", with: " ") }

    @Test func `the pages show command lines`() { #expect(Self.pages.count > 15) }

    @Test(arguments: Set(pages + help).sorted())
    func `the tool parses them as written`(line: String) throws {
        // The part that a shell reads ends at a redirection, a pipe or an ellipsis.
        let start = try #require(line.range(of: "latchkey "))
        let command = line[start.lowerBound...].prefix { !"<>|…)".contains($0) }
        var words = Self.words(of: String(command))
        #expect(words.removeFirst() == "latchkey")
        let verb = try #require(Self.verb(&words), "\(line)")
        let known = Set(verb.usage.options.map(\.name))
        for word in words where word.hasPrefix("--") {
            #expect(known.contains(String(word.prefix { $0 != "=" })), "\(line): \(word)")
        }
        // A line that ends in an ellipsis leaves something out, and a lone verb is a mention.
        guard !line.contains("…"), !words.isEmpty else { return }
        #expect(throws: Never.self, "\(line)") { try ArgumentParser(usage: verb.usage).parse(words) }
    }

    /// The verb that the words begin with, two words before one; its words are removed.
    private static func verb(_ words: inout [String]) -> (any Verb)? {
        for count in [2, 1] where words.count >= count {
            let name = words.prefix(count).joined(separator: " ")
            guard let verb = tool.verbs.first(where: { $0.usage.name == name }) else { continue }
            words.removeFirst(count)
            return verb
        }
        return nil
    }

    /// Words apart at blanks, quoted ones kept together.
    private static func words(of line: String) -> [String] {
        line.matches(of: /"[^"]*"|'[^']*'|[^\s'"]+(?:'[^']*')?/).map { match in
            String(match.output).replacing("'", with: "").replacing("\"", with: "")
        }
    }
}
