import Foundation
import LatchkeyVendors
import Testing

/// The pages of `Documentation/Vendors` name the profiles' sources.
@Suite struct VendorPagesTests {
    private static let pages = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Documentation/Vendors")

    @Test(arguments: VendorProfile.all) func `a vendor's page has a row for each profile with its evidence`(
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

    @Test func `a vendor's page begins with its loader in an app`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path)
        for name in names where name.hasSuffix(".md") && !["README.md", "Generic.md"].contains(name) {
            let page = try String(contentsOf: Self.pages.appending(path: name), encoding: .utf8)
            #expect(page.prefix(400).contains("In an app:\n\n```swift\nContentKeyLoader("), "\(name)")
        }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The text of all files in a folder.
    private static func files(_ folder: String) throws -> String {
        let found = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return try found.filter { $0.hasSuffix(".swift") }.map { try text("\(folder)/\($0)") }.joined()
    }

    @Test(arguments: VendorProfile.vendorIdentifiers.filter { $0 != "generic" })
    func `a vendor has a row in the index, and a transcript or tests at both ends`(_ vendor: String) throws {
        let rows = try Self.text("Documentation/Vendors/README.md").split(separator: "\n")
        #expect(rows.contains { $0.hasPrefix("| [") && $0.contains("| `\(vendor)`") })
        let transcript = try Self.text("Tests/Golden/Wires/\(vendor).txt")
        #expect(transcript.contains("\nprofile \(vendor)\n"))
        let suite = "struct \(vendor.replacing("-", with: ""))servicetests"
        #expect(
            try transcript.contains("\nservice \(vendor)\n")
                || Self.files("Tests/ServicesTests").lowercased().contains(suite))
    }

    @Test func `the README and the changelog count vendors and profiles correctly`() throws {
        let vendors = VendorProfile.vendorIdentifiers.count { !["generic", "latchkey", "apple-sample"].contains($0) }
        let forms = VendorProfile.all.count { $0.identifier.hasPrefix("generic-") }
        #expect(try Self.text("README.md").contains("from \(vendors) vendors"))
        let counts =
            "Profiles of \(vendors) vendors and \(forms) generic forms, \(VendorProfile.all.count) in all with variants"
        #expect(try Self.text("CHANGELOG.md").contains(counts), "\(counts)")
    }

    @Test func `the index names every profile`() throws {
        let index = try String(contentsOf: Self.pages.appending(path: "README.md"), encoding: .utf8)
        #expect(VendorProfile.all.map(\.identifier).filter { !index.contains("`\($0)`") } == [])
    }
}
