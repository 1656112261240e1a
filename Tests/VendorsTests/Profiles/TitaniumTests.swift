import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/Titanium.md`.
@Suite(.timeLimit(.minutes(5))) struct TitaniumTests {
    static let key: KeyURI = "skd://titanium.example/movie-1"
    static let device = [
        "customerName": "Operator", "accountName": "a-1", "portalId": "p-1", "friendlyName": "Ann \"A\"",
    ]
    static let registration =
        #"{"LatensRegistration":{"AccountName":"a-1","AppVersion":"1.0","CustomerName":"Operator","DeviceInfo":"#
        + #"{"DRMProvider":"Apple","DRMType":"FairPlay","DRMVersion":"1.0","DeviceModel":"iPhone","#
        + #""DeviceType":"iPhone","DeviceVendor":"Apple","FormatVersion":"1","OSType":"iOS","OSVersion":"17.0"},"#
        + #""FriendlyName":"Ann \"A\"","PortalId":"p-1"}}"#

    @Test(arguments: [VendorProfile.titanium, .titaniumDevice])
    func `the certificate is asked for without a token`(profile: VendorProfile) async throws {
        #expect(try await ProfileWire(profile, key: Self.key).certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try profile.unchecked.bundledCertificate() == nil)
    }

    @Test func `a certificate may be a setting`() throws {
        let profile = VendorProfile.titanium.setting("certificate", to: ProfileWire.certificate.base64EncodedString())
        #expect(try profile.unchecked.bundledCertificate()?.bytes == ProfileWire.certificate)
    }

    @Test func `the token wins over the device's description`() async throws {
        let expected = """
            POST https://l.example/fps
            authorization: Bearer TOKEN
            content-type: application/octet-stream

            fbff0001
            """
        #expect(try await ProfileWire(.titanium, key: Self.key, Self.device).licenseRequest() == expected)
    }

    @Test func `the device's description travels in base64`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/octet-stream
            x-titanium-drm-cdata: \(Data(Self.registration.utf8).base64EncodedString())

            fbff0001
            """
        let wire = ProfileWire(.titaniumDevice, key: Self.key, token: nil, Self.device)
        #expect(try await wire.licenseRequest() == expected)
        #expect(wire.profile.redaction.isSecret(header: "x-titanium-drm-cdata"))
    }

    @Test func `an app describes its own device`() async throws {
        let device = PlaybackDevice(
            kind: "AppleTV", model: "Apple TV", system: "tvOS", systemVersion: "18.1", appVersion: "4.2")
        let address = try #require(URL(string: "https://l.example/license"))
        let vendor = ConfiguredVendor.titaniumDevice(
            certificate: address, license: address, customer: "Operator", account: "a-1", portal: "p-1", device: device)
        let wire = ProfileWire(.titaniumDevice, key: Self.key, token: nil, vendor.profile.settings)
        let header = try #require(
            try await wire.licenseRequest().firstMatch(of: #/x-titanium-drm-cdata: (\S+)/#)?.output.1)
        let sent = String(decoding: try #require(Data(base64Encoded: String(header))), as: UTF8.self)
        for member in [
            #""DeviceType":"AppleTV""#, #""DeviceModel":"Apple TV""#, #""OSType":"tvOS""#, #""OSVersion":"18.1""#,
            #""AppVersion":"4.2""#,
        ] {
            #expect(sent.contains(member), "\(sent)")
        }
    }

    @Test(arguments: [
        ("iPhone17,1", "iPhone", "iPhone", "iOS"), ("iPod9,1", "iPhone", "iPhone", "iOS"),
        ("iPad13,4", "iPad", "iPad", "iPadOS"), ("AppleTV14,1", "AppleTV", "Apple TV", "tvOS"),
        ("MacBookPro18,1", "Mac", "Mac", "macOS"), ("Mac15,3", "Mac", "Mac", "macOS"),
        ("RealityDevice14,1", "Unknown", "Apple Vision Pro", "visionOS"), ("", "Unknown", "Unknown", "iOS"),
    ])
    func `the name of the hardware says which device it is`(
        _ machine: String, _ kind: String, _ model: String, _ system: String
    ) {
        let version = OperatingSystemVersion(majorVersion: 26, minorVersion: 1, patchVersion: 2)
        let info = ["CFBundleShortVersionString": "4.2"]
        let device = PlaybackDevice(machine: machine, version: version, info: info)
        #expect([device.kind, device.model, device.system] == [kind, model, system])
        #expect(device.systemVersion == "26.1.2" && device.appVersion == "4.2")
        let first = OperatingSystemVersion(majorVersion: 26, minorVersion: 0, patchVersion: 0)
        #expect(PlaybackDevice(machine: machine, version: first, info: [:]).systemVersion == "26.0")
    }

    @Test(arguments: ["customerName", "accountName", "portalId"])
    func `a description with a gap is not sent`(name: String) async {
        let wire = ProfileWire(.titaniumDevice, key: Self.key, token: nil, Self.device.filter { $0.key != name })
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .missingSetting)
        #expect(error?.reason.contains("\"\(name)\"") == true)
    }

    /// Source: `Documentation/Vendors/Titanium.md`.
    @Test func `a device without a name is described without it`() async throws {
        let wire = ProfileWire(
            .titaniumDevice, key: Self.key, token: nil, Self.device.filter { $0.key != "friendlyName" })
        let registration = Self.registration.replacing(#""FriendlyName":"Ann \"A\"","#, with: "")
        #expect(try await wire.licenseRequest().contains(Data(registration.utf8).base64EncodedString()))
    }

    @Test func `without a token nothing is sent`() async {
        let wire = ProfileWire(.titanium, key: Self.key, token: nil)
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .missingCredential)
    }

    @Test(arguments: [
        (VendorProfile.titanium, "skd://t.example/a/movie-1", "movie-1"), (.titanium, "skd://movie-1", "movie-1"),
        (.titanium, "skd://asset-42?x=a/b", "asset-42"), (.titaniumTheo, "skd://asset-42?x=a/b", "b"),
        (.titanium, "skd://t.example/asset-42?x=a/b#c/d", "asset-42"),
        (.titaniumTheo, "skd://t.example/a/movie-1", "movie-1"), (.titaniumTheo, "skd://movie-1", "movie-1"),
        (.titaniumWeb, "skd://t.example/a/movie-1", "t.example/a/movie-1"), (.titaniumWeb, "skd://movie-1", "movie-1"),
    ])
    func `the key's name is the last part, and on the web everything`(
        profile: VendorProfile, key: KeyURI, expected: String
    ) throws {
        #expect(try ProfileWire(profile, key: key).contentIdentifier() == expected)
    }

    @Test func `the reply is the CKC, and a refusal's body is none`() throws {
        let wire = ProfileWire(.titanium, key: Self.key)
        #expect(try wire.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
        #expect(wire.refusal("no", status: 403)?.kind == .forbidden)
        #expect(wire.refusal("<html>no</html>", status: 200)?.kind == .licenseMalformed)
    }
}
