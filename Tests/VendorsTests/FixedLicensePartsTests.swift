import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts of a license request that a profile knows before there is a key.
@Suite struct FixedLicensePartsTests {
    private static let addresses = [
        "certificateURL": "https://c.example/fps.cer", "licenseURL": "https://l.example/fps",
    ]
    private static let given = CredentialSet.token("TOKEN")

    private static func parts(_ profile: VendorProfile) throws -> (url: URL?, headers: [String: String]) {
        try profile.with(addresses).unchecked.fixedLicenseParts(credentials: given)
    }

    private static func with(_ rule: TextRule) -> VendorProfile {
        var profile = VendorProfile.genericRaw
        profile.license.headers = [.init("X-Value", rule)]
        return profile
    }

    @Test func `a setting makes one address for every key; the key URI does not`() throws {
        #expect(try Self.parts(.axinom).url?.absoluteString == "https://l.example/fps")
        #expect(try Self.parts(.vuDRMRaw).url == nil)
        var copying = VendorProfile.axinom
        copying.license.url = URLRule(.setting("licenseURL"), [.copyKeyURIQuery(names: ["a"])])
        #expect(try Self.parts(copying).url == nil)
    }

    @Test(arguments: [
        (TextRule.fixed("a"), "a"), (.setting("licenseURL"), "https://l.example/fps"), (.credential("token"), "TOKEN"),
        (.joined([.fixed("a"), .credential("token")], separator: "-"), "a-TOKEN"), (.base64(.fixed("a")), "YQ=="),
        (.firstOf([.setting("none"), .fixed("b")]), "b"), (.percentEncoded(.fixed("a b")), "a%20b"),
        (.onlyFor(.streaming, "now"), "now"),
    ])
    func `a header of settings and credentials is the same for each key`(rule: TextRule, value: String) throws {
        #expect(try Self.parts(Self.with(rule)).headers["X-Value"] == value)
    }

    @Test(arguments: [
        TextRule.host, .remainder, .wholeURI, .contentID, .all([.fixed("a"), .host]), .base64(.remainder),
        .firstOf([.setting("none"), .host]), .onlyFor(.streaming, .host), .template("{licenseURL}/{host}"),
        .from("skd://h", take: .host), .json(["a": .rule(.messageID)]),
    ])
    func `a key's own header is refused`(rule: TextRule) {
        let error = #expect(throws: IntegrationError.self) { try Self.parts(Self.with(rule)) }
        #expect(error?.kind == .invalidRequest && error?.reason.contains("X-Value") == true)
    }

    @Test func `a header for stored keys is left out of requests for streamed keys`() throws {
        #expect(try Self.parts(Self.with(.onlyFor(.persistable, .host))).headers["X-Value"] == nil)
    }

    @Test func `a missing credential is named, and an empty one is missing`() {
        #expect(VendorProfile.axinom.unchecked.missingCredentials(in: .none) == ["token"])
        #expect(VendorProfile.axinom.unchecked.missingCredentials(in: .token("")) == ["token"])
        #expect(VendorProfile.axinom.unchecked.missingCredentials(in: Self.given).isEmpty)
        let error = #expect(throws: IntegrationError.self) {
            try VendorProfile.axinom.with(Self.addresses).unchecked.fixedLicenseParts(credentials: .none)
        }
        #expect(error?.kind == .missingCredential)
    }

    @Test(
        arguments: VendorProfile.all.filter {
            $0.unchecked.lookupScope == .never && $0.unchecked.sessionScope == .never
        })
    func `a request with credentials at hand equals a loader's request`(profile: VendorProfile) async throws {
        let profile = ProfileWire(profile, ["brandGuid": "b"]).profile
        let key: KeyURI = "skd://host/path/asset?contentId=c&kid=00000000-0000-0000-0000-000000000001"
        guard let identifier = try? profile.contentIdentifier(for: key) else { return }
        let spc = SPCMessage(SampleBytes.spc)
        let context = LicenseContext(keyURI: key, contentIdentifier: identifier) { Self.given }
        guard let asked = try? await profile.unchecked.licenseRequest(for: spc, context) else { return }
        let made = try profile.unchecked.licenseRequest(for: spc, context, credentials: Self.given)
        #expect(made.url == asked.url && made.httpBody == asked.httpBody)
        #expect(made.allHTTPHeaderFields == asked.allHTTPHeaderFields && made.httpMethod == asked.httpMethod)
    }
}
