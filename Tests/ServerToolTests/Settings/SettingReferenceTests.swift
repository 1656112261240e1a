import Foundation
import LatchkeyForms
import LatchkeyTerminal
import Testing

@testable import LatchkeyServer

/// The explanations of settings: one for each member, on the page and from the tool.
@Suite(.timeLimit(.minutes(1))) struct SettingReferenceTests {
    @Test func `the page of settings has the output of latchkey-server settings`() async throws {
        let file = URL(filePath: #filePath).appending(path: "../../../../Documentation/Server/Settings.md").standardized
        let page = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let output = await ToolRun("settings").output.split(separator: "\n", omittingEmptySubsequences: false)
        let difference = output.difference(from: page)
        #expect(difference.isEmpty, "Run: latchkey-server settings > Documentation/Server/Settings.md")
    }

    @Test func `each setting has an explanation`() {
        #expect(SettingReference.all.filter { !$0.text.hasSuffix(".") }.map(\.path) == [])
        let inTables = SettingReference.all.filter { !$0.isObject }
        #expect(inTables.filter { ($0.text + $0.values).contains("|") }.map(\.path) == [], "A bar ends a cell.")
    }

    @Test(
        arguments: [
            ("stores.copyRows", "| `copyRows` | ", "default `200000`"),
            ("tenants.acme.packagers[0].rights", "## `tenants.NAME.packagers[]`", "`rights`"),
            ("packagers", "## `packagers`", "default `8444`"),
            ("policies.live.validity", "## `policies.NAME.validity`", "`renewAt`"),
        ])
    func `the tool explains a part by its path`(_ path: String, _ heading: String, _ row: String) async {
        let run = await ToolRun("settings", path)
        #expect(run.status == .yes && run.output.contains(heading) && run.output.contains(row), "\(run.output)")
        #expect(!run.output.contains("`threads`"))
    }

    @Test(arguments: ["stores.nothing", "", "."]) func `an unknown path is a usage error`(_ path: String) async {
        let run = await ToolRun("settings", path)
        #expect(run.status == .usage && run.output.isEmpty && run.error.contains("setting"), "\(run.error)")
    }
}
