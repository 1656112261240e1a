import Foundation
import Testing

@testable import Latchkey
@testable import LatchkeyCommandLine

@Suite struct PlayReportTests {
    @Test func `a request has the fields that scripts read`() throws {
        let summary = KeyEvent.HTTPSummary(
            stage: .license, method: "POST", url: "https://license.example/", status: 200, milliseconds: 12.34)
        let data = try JSONEncoder().encode(PlayReport.Request(summary))
        let json = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(json.keys.sorted() == ["method", "ms", "stage", "status", "url"])
        #expect(json["ms"] as? Double == 12.3)
        #expect(json["stage"] as? String == "license")
    }
}
