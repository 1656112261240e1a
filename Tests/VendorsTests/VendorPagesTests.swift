import Foundation
import LatchkeyVendors
import Testing

/// The pages of `Documentation/Vendors` name what the profiles are based on.
@Suite struct VendorPagesTests {
    private static let pages = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Documentation/Vendors")

    @Test(arguments: VendorProfile.all) func `a vendor's page has a row for each profile, with its evidence`(
        _ profile: VendorProfile
    ) throws {
        let evidence = try #require(profile.evidence)
        let level = ["sampleRead": "sample read", "requestsAgree": "requests agree"][evidence.level.rawValue]
        let row =
            "| `\(profile.identifier)` | \(profile.name) | "
            + "\(level ?? evidence.level.rawValue): \(evidence.source), \(evidence.read) |"
        let pages = try FileManager.default.contentsOfDirectory(at: Self.pages, includingPropertiesForKeys: nil)
        #expect(try pages.contains { try String(contentsOf: $0, encoding: .utf8).contains(row) }, "\(row)")
    }

    @Test func `the index names every profile`() throws {
        let index = try String(contentsOf: Self.pages.appending(path: "README.md"), encoding: .utf8)
        #expect(VendorProfile.all.map(\.identifier).filter { !index.contains("`\($0)`") } == [])
    }
}
