import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// What holds for every profile that comes with Latchkey.
@Suite struct AllProfilesTests {
    /// Has something at every place where a profile looks for an identifier.
    static let key: KeyURI = "skd://YWJjZGVm?b=1&cid=2&kid=3&KID=4&contentId=5&keyId=6&playbackId=7"

    @Test(arguments: VendorProfile.all)
    func `a profile that went through JSON is the same and sends the same bytes`(profile: VendorProfile) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(profile)
        let copy = try JSONDecoder().decode(VendorProfile.self, from: json)
        #expect(copy == profile)
        #expect(try encoder.encode(copy) == json)
        #expect(try await Self.requests(copy) == Self.requests(profile))
    }

    @Test(arguments: VendorProfile.all)
    func `the examples of the parameters are enough for every request`(profile: VendorProfile) async throws {
        let requests = try await Self.requests(profile)
        #expect(requests.count >= 3)
        #expect(requests.allSatisfy { $0.contains(" https://") })
    }

    @Test func `every profile has a name of its own`() {
        #expect(Set(VendorProfile.all.map(\.identifier)).count == VendorProfile.all.count)
        #expect(Set(VendorProfile.all.map(\.name)).count == VendorProfile.all.count)
    }

    @Test(arguments: VendorProfile.all)
    func `every parameter says what it is and gives an example`(profile: VendorProfile) {
        #expect(profile.parameters.allSatisfy { !$0.meaning.isEmpty && !$0.example.isEmpty })
        #expect(Set(profile.parameters.map(\.name)).count == profile.parameters.count)
    }

    /// Certificate, lookup and license requests made with the parameters' examples.
    private static func requests(_ profile: VendorProfile) async throws -> [String] {
        let settings = profile.parameters.filter { !$0.isCredential }.map { ($0.name, $0.example) }
        let token = profile.parameters.first { $0.isCredential }?.example
        var wire = ProfileWire(profile, key: key, token: token, Dictionary(settings) { $1 })
        wire.session = ["sessionToken": Secret("SESSION")]
        wire.lookup = (profile.lookup?.values ?? [:]).mapValues { _ in Secret("https://lookup.example/") }
        let first = [try await wire.certificateRequest(), try await wire.lookupRequest()].compactMap { $0 }
        return try await first + [
            wire.licenseRequest(.streaming), wire.licenseRequest(.persistable), wire.licenseRequest(.renewal),
        ]
    }
}
