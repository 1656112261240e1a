import Foundation
import LatchkeyCore
import LatchkeyTerminal
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool

@Suite(.timeLimit(.minutes(1))) struct DemoVerbTests {
    @Test func `the demo lists all its addresses, in lines or as JSON`() async throws {
        let root = try TemporaryFolder()
        let demonstration = try await Demonstration.start(
            in: DemoFolder(root.file("demo"), ports: [0, 0, 0]), lines: LineWriter { _ in })
        func shown(_ words: [String]) throws -> (output: String, error: String) {
            let (output, error) = (ToolRun.Texts(), ToolRun.Texts())
            let console = Console(output: output, error: error, showsProgress: false) { _ in Data() }
            let verb = DemoVerb()
            let arguments = try ArgumentParser(usage: verb.usage).parse(words)
            try verb.show(demonstration, in: "here", arguments, console)
            return (output.text, error.text)
        }
        let (lines, json) = (try shown([]), try shown(["--json"]))
        let notice = try #require(demonstration.server.current.notices.first)
        #expect(lines.error.contains(notice.text.prefix(30)) && json.error == "")
        #expect(lines.output.contains(demonstration.server.addresses.players.url))
        // The path of the console's key, and not the key.
        let file = root.file("demo/admin-key.txt")
        let key = try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(lines.output.contains("key in \(file.path)") && json.output.contains("admin-key.txt"))
        #expect(!lines.output.contains(key) && !json.output.contains(key))
        #expect(JSONValue(Data(lines.output.utf8)) == nil)
        #expect(JSONValue(Data(json.output.utf8)) != nil && json.output.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["65534", "65535"])
    func `a port that leaves none for packagers and operators is refused, and nothing is made`(_ port: String)
        async throws
    {
        let folder = try TemporaryFolder()
        let run = await ToolRun(arguments: ["demo", "--folder", folder.path("demo"), "--port", port])
        #expect(run.status == .usage && run.error.contains("--port \(port)") && run.error.contains("65533"))
        #expect(folder.names.isEmpty)
    }

}
