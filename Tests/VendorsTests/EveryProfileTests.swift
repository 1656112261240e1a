import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The invariants of every profile that ships with Latchkey.
@Suite(.timeLimit(.minutes(5))) struct EveryProfileTests {
    @Test func `every profile has a unique identifier and name, and is found by its identifier`() {
        let identifiers = VendorProfile.all.map(\.identifier)
        #expect(Set(identifiers).count == identifiers.count)
        #expect(Set(VendorProfile.all.map(\.name)).count == identifiers.count)
        #expect(identifiers.allSatisfy { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } })
        #expect(identifiers.compactMap(VendorProfile.named) == VendorProfile.all)
        #expect(VendorProfile.named("none") == nil)
    }

    @Test(arguments: VendorProfile.all)
    func `every parameter has a description and an example`(profile: VendorProfile) {
        #expect(profile.parameters.allSatisfy { !$0.meaning.isEmpty && !$0.example.isEmpty })
        #expect(Set(profile.parameters.map(\.name)).count == profile.parameters.count)
        let addresses = profile.parameters.filter { $0.name.hasSuffix("URL") }.map(\.example)
        #expect(addresses.allSatisfy { URL(string: $0)?.scheme == "https" })
    }

    @Test(arguments: VendorProfile.all)
    func `every profile names its source and the day it was read`(profile: VendorProfile) throws {
        let evidence = try #require(profile.evidence)
        #expect(!evidence.source.isEmpty)
        #expect(evidence.read.wholeMatch(of: /2026-1[12]-\d\d/) != nil)
    }

    @Test func `an invalid day and an empty source are problems`() {
        var profile = VendorProfile.vuDRM
        for day in ["", "2026-13-01", "2026-1-1", "22.11.2026", "2026-11-2２"] {
            profile.evidence = ProfileEvidence(.documented, read: day, " ")
            #expect(profile.problems.map(\.field) == ["evidence.read", "evidence.source"], "\(day)")
        }
    }

    @Test(arguments: VendorProfile.all)
    func `no profile has a problem, as a value or as JSON`(profile: VendorProfile) throws {
        #expect(profile.problems == [])
        let json = try JSONEncoder().encode(profile)
        #expect(VendorProfile.problems(inJSON: json) == [])
        #expect(try VendorProfile(json: json) == profile)
    }

    @Test(arguments: VendorProfile.all)
    func `a profile survives JSON and sends the same bytes`(profile: VendorProfile) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(profile)
        let copy = try VendorProfile(json: json)
        #expect(copy == profile)
        #expect(try encoder.encode(copy) == json)
        #expect(try await ExampleWire(copy).requests() == ExampleWire(profile).requests())
    }

    @Test(arguments: VendorProfile.all)
    func `the parameters' examples suffice for every request`(profile: VendorProfile) async throws {
        let example = ExampleWire(profile)
        let requests = try await example.requests()
        #expect(example.wire.profile.missingSettings.isEmpty)
        #expect(requests.count >= 4)
        #expect(requests.allSatisfy { $0.contains(" https://") })
    }

    @Test(arguments: VendorProfile.all)
    func `the license request's address is known before it is made`(profile: VendorProfile) async throws {
        let wire = ExampleWire(profile).wire
        let expected = try #require(wire.profile.unchecked.licenseURL(for: wire.key, lookup: wire.lookup))
        let sent = try await wire.licenseRequest()
        let origin = "\(expected.scheme ?? "")://\(expected.host ?? "")"
        #expect(
            sent.hasPrefix("POST \(origin)/") || sent.hasPrefix("POST \(origin)?") || sent.hasPrefix("POST \(origin)\n")
        )
    }

    @Test(arguments: VendorProfile.all)
    func `each required setting is demanded by name`(profile: VendorProfile) async throws {
        for parameter in profile.parameters where parameter.isRequired && !parameter.isCredential {
            let example = ExampleWire(profile, but: [parameter.name: ""])
            #expect(example.wire.profile.missingSettings == [parameter.name])
            let error = await #expect(throws: IntegrationError.self) { try await example.requests() }
            #expect(error?.kind == .missingSetting)
            #expect(error?.description.contains("\"\(parameter.name)\"") == true)
        }
    }

    @Test(
        arguments: VendorProfile.all.filter { $0.parameters.contains { $0.isCredential && $0.isRequired } }, [nil, ""])
    func `a missing or empty required token is demanded`(profile: VendorProfile, token: String?) async {
        let error = await #expect(throws: IntegrationError.self) {
            var wire = ExampleWire(profile).wire
            (wire.token, wire.session) = (token, [:])
            return try await wire.licenseRequest()
        }
        #expect(error?.kind == .missingCredential)
    }
}

/// A profile with its parameters' examples.
private struct ExampleWire {
    /// A URI with something at every place where a profile looks for an identifier.
    static let key: KeyURI = "skd://YWI/YWJj?b=1&cid=2&kid=3&KID=4&contentId=5&keyId=6&playbackId=7&assetId=8"

    var wire: ProfileWire

    init(_ profile: VendorProfile, but changed: [String: String] = [:]) {
        let settings = profile.parameters.filter { !$0.isCredential }.map { ($0.name, $0.example) }
        let token = profile.parameters.first { $0.isCredential }?.example
        let examples = Dictionary(settings) { $1 }.merging(changed) { $1 }
        wire = ProfileWire(profile, key: Self.key, token: token, examples)
        wire.session = ["sessionToken": Secret("SESSION")]
        wire.lookup = (profile.lookup?.values ?? [:]).mapValues { _ in Secret("https://lookup.example/") }
    }

    /// Certificate, lookup and license requests.
    func requests() async throws -> [String] {
        let first = [try await wire.certificateRequest(), try await wire.lookupRequest()].compactMap { $0 }
        return try await first + [
            wire.licenseRequest(.streaming), wire.licenseRequest(.persistable), wire.licenseRequest(.renewal),
        ]
    }
}
