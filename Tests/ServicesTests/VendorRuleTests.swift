import Foundation
import LatchkeyServices
import LatchkeyVendorWire
import Testing
import WireTranscripts

/// Actions that vendors' pages forbid: a row on the page, and a transcript that breaks it.
@Suite(.timeLimit(.minutes(5))) struct VendorRuleTests {
    private static let breaches = WireTranscript.all.flatMap(\.cases).filter { $0.value("breaks") != nil }

    /// `ServiceTranscriptTests` sees that it is refused as the transcript shows.
    @Test(arguments: breaches) func `a breach passes with a warning if the service is lenient`(
        _ wire: WireCase
    ) async throws {
        #expect(try await ServicePlayer.passes(wire, lenientOn: wire.value("breaks") ?? ""))
    }

    @Test func `each rule is broken in a transcript, and each page lists its service's rules`() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../Documentation/Vendors").standardized
        let pages = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent != "README.md" }.map { try String(contentsOf: $0, encoding: .utf8) }
        for service in VendorServices.all(authority: try Stage.authority()) {
            let name = service.identifier.rawValue
            let broken = Self.breaches.filter { $0.value("service") == name }.compactMap { $0.value("breaks") }
            #expect(Set(broken) == Set(service.rules.map(\.name)), "\(name)")
            let page = try #require(
                pages.first { $0.contains("latchkey vendors \(name)` lists") || $0.contains("| `\(name)` |") })
            let table = page.components(separatedBy: "\n## ").first { $0.hasPrefix("Rules\n") } ?? ""
            let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
            #expect(rows == service.rules.map { "| `\($0.name)` | \($0.text) | \($0.source) |" }, "\(name)")
        }
    }
}
