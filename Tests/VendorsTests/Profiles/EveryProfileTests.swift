import Foundation
import LatchkeyVendors
import Testing

/// What holds for each profile of the list.
@Suite struct EveryProfileTests {
    @Test func `no two profiles share an identifier`() {
        let identifiers = VendorProfile.all.map(\.identifier)
        #expect(Set(identifiers).count == identifiers.count)
        #expect(identifiers.allSatisfy { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } })
    }

    @Test(arguments: VendorProfile.all.map(\.identifier))
    func `a profile is the same after a way through JSON`(identifier: String) throws {
        let profile = try #require(VendorProfile.named(identifier))
        let json = try JSONEncoder().encode(profile)
        #expect(try JSONDecoder().decode(VendorProfile.self, from: json) == profile)
    }

    @Test(arguments: VendorProfile.all.map(\.identifier))
    func `every parameter says what it is and has an example`(identifier: String) throws {
        let profile = try #require(VendorProfile.named(identifier))
        #expect(Set(profile.parameters.map(\.name)).count == profile.parameters.count)
        #expect(profile.parameters.allSatisfy { !$0.meaning.isEmpty && !$0.example.isEmpty })
    }

    @Test(arguments: VendorProfile.all.map(\.identifier))
    func `the examples are all that a profile requires, and its addresses are addresses`(identifier: String) throws {
        let profile = try #require(VendorProfile.named(identifier))
        let settings = profile.parameters.filter { !$0.isCredential }.map { ($0.name, $0.example) }
        let configured = profile.with(Dictionary(settings) { $1 })
        #expect(configured.missingSettings.isEmpty)
        #expect(settings.filter { $0.0.hasSuffix("URL") }.allSatisfy { URL(string: $0.1)?.scheme == "https" })
    }
}
