import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A key URI of each vendor's documentation, and settings of the profile, for tests of identification.
struct VendorSample: Sendable, CustomTestStringConvertible {
    let profile: String
    let keyURI: KeyURI
    /// In place of the parameters' examples.
    var settings: [String: String] = [:]

    var testDescription: String { profile }

    /// The identifier of the vendor's first profile, with which the variants' identifiers begin.
    var vendor: String {
        VendorProfile.vendorIdentifiers.filter { profile == $0 || profile.hasPrefix("\($0)-") }.max {
            $0.count < $1.count
        }
            ?? profile
    }

    private static let guid = "297f600f-1234-1234-b060-2ac13cc42585"

    /// The key URI of each vendor with a special form. Source: `Documentation/Vendors/README.md` §22.
    static let distinctive: [String: KeyURI] = [
        "vudrm": "skd://fairplay-license.vudrm.tech/license/demo-content_01",
        "cloud-drm": KeyURI("skd://tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=\(guid)&KID=\(guid)"),
        "azure": KeyURI("skd://acct.keydelivery.westus.media.azure.net/FairPlay/?kid=\(guid)"),
        "uplynk": "skd://content.uplynk.com/ksm/fps?b=0a1b&c=2&r=3",
        "ezdrm": KeyURI("skd://fps.ezdrm.com/;\(guid)"),
        "expressplay": "skd://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken=AQAA_-x",
        "nagra":
            "skd://eyJDb250ZW50SWQiOiJkZW1vLTEiLCJLZXlJZCI6IjAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMCIsIklWIjoiQUFBQUFBQUFBQUFBQUFBQUFBQUFBQT09In0=",
        "axinom": KeyURI("skd://\(guid):000102030405060708090a0b0c0d0e0f"),
        "drmtoday": "skd://drmtoday?assetId=demo&variantId&keyId=000102030405060708090a0b0c0d0e0f",
        "irdeto":
            KeyURI(
                "skd://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER/getckc?contentId=demo&keyId=\(guid)"
            ),
        "mux": "skd://drm.example/?playbackId=abc&token=T",
        "comcast": "skd://FairPlay/demo",
        "bunny-stream": "skd://video.bunnycdn.com/FairPlay/1/license",
        "sigma": KeyURI("skd://license.sigmadrm.com/license/verify/fairplay?assetId=demo&keyId=\(guid)"),
    ]

    /// Key URIs of a form that many vendors share.
    private static let common: [String: KeyURI] = ["conax": "skd://bW92aWUtMS1kZW1v"]

    static let all = VendorProfile.all.map { profile in
        let sample = VendorSample(profile: profile.identifier, keyURI: "skd://movie-1")
        return VendorSample(
            profile: profile.identifier, keyURI: distinctive[sample.vendor] ?? common[sample.vendor] ?? sample.keyURI)
    }
}

extension VendorSample {
    /// The license request of the profile, with the examples of its parameters.
    /// - Parameter token: in place of the example of the profile's credential.
    func licenseRequest(token: String? = nil) async throws -> URLRequest {
        let profile = try #require(VendorProfile.named(profile))
        let examples = profile.parameters.filter { !$0.isCredential }.map { ($0.name, $0.example) }
        let settings = ["certificateURL": "https://c.example/fps.cer", "licenseURL": "https://l.example/fps"]
        let set = profile.with(settings).with(profile.settings).with(Dictionary(examples) { $1 })
        let given = token ?? profile.parameters.first { $0.isCredential }?.example
        let credentials = given.map { CredentialSet.token($0) } ?? .none
        let address =
            profile.identifier == "jw-platform"
            ? "https://fps.jwplayer.com/spc?token=AQAA"
            : "https://fp.service.expressplay.com/hms/fp/rights/?ExpressPlayToken=AQAA"
        let context = LicenseContext(
            keyURI: keyURI, contentIdentifier: try set.contentIdentifier(for: keyURI), purpose: .streaming,
            lookup: (profile.lookup?.values ?? [:]).mapValues { _ in Secret(address) },
            session: ["sessionToken": Secret("SESSION")], messageID: "MESSAGE-ID"
        ) { credentials }
        return try await set.unchecked.licenseRequest(for: SPCMessage(SampleBytes.spc), context)
    }
}
