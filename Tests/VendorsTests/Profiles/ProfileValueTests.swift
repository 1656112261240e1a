import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The values of profiles besides their wire, which `Tests/Golden/Wires` holds.
@Suite(.timeLimit(.minutes(5))) struct ProfileValueTests {
    /// Source: `Documentation/Vendors/DoveRunner.md`.
    @Test func `DoveRunner's current and older hosts belong to the vendor`() {
        let hosts = VendorProfile.doveRunner.unchecked.configuredURLs.compactMap(\.host)
        #expect(Set(hosts).isSuperset(of: ["drm-license.doverunner.com", "license-global.pallycon.com"]))
    }

    /// Source: `Documentation/Migration/TVSDKExpressPlay.md`: the generator of tokens takes the customer's authenticator, and no SPC.
    @Test func `ExpressPlay's token host is not a license host`() {
        let hosts = VendorProfile.expressPlay.unchecked.configuredURLs.compactMap(\.host)
        #expect(hosts.contains("fp.service.expressplay.com") && !hosts.contains { $0.hasPrefix("fp-gen") })
    }

    /// Source: pull requests 98 and 104 of muxinc/mux-player-swift.
    @Test func `Mux's playing key is renewed and cached for 23 hours, and a stored one renewed without its media`() {
        let renewal = VendorProfile.mux.renewal
        #expect(renewal.interval == 23 * 3600 && renewal.cacheLifetime == 23 * 3600)
        #expect(renewal.renewsStoredKeys)
    }

    @Test func `only a configured address gives a source a session`() {
        #expect(VendorProfile.all.allSatisfy { $0.unchecked.sessionScope != .source })
    }

    @Test func `a session token in another vendor's license does not change its renewals`() throws {
        let license = try ProfileWire(.nagra, key: "skd://e30=").license(
            #"{"CkcMessage":"\#(ProfileWire.ckcText)","sessionToken":"S-1"}"#)
        #expect(VendorProfile.vuDRM.unchecked.sessionRenewal(after: license) == .heartbeat)
    }

    @Test func `a session rule survives JSON`() throws {
        let profile = VendorProfile.nagra.setting("sessionURL", to: "https://s.example/v1")
        let copy = try VendorProfile(json: JSONEncoder().encode(profile))
        #expect(copy.session == profile.session && copy.session != nil && copy.unchecked.sessionScope == .source)
    }

    @Test func `a missing part of a license server profile without setup is named`() {
        var profile = VendorProfile.latchkey
        profile.sideValues["heartbeatToken"] = nil
        let flaws = profile.problems.map { "\($0)" }
        #expect(flaws.contains { $0.contains("session.setup") && $0.contains("heartbeatToken") })
    }

    /// As `Examples/ConnectCustomerSSM.swift` reads its gateway's replies.
    @Test(arguments: [
        ("1003", Diagnosis.Kind.invalidRequest, Diagnosis.Kind.unauthenticated),
        ("4001", .unauthenticated, .serverTransient), ("77", .invalidRequest, .invalidRequest),
    ])
    func `an app that calls NAGRA itself gets a code's meaning from the profile`(
        _ code: String, _ license: Diagnosis.Kind, _ session: Diagnosis.Kind
    ) throws {
        let address = try #require(URL(string: "https://n.example"))
        let profile = ConfiguredVendor.nagra(certificate: address, license: address).profile
        let reply = HTTPReply(status: 400, body: Data(#"{"errorCode":\#(code),"message":"no"}"#.utf8))
        for (rules, kind) in [(profile.errors, license), (profile.sessionErrors, session)] {
            let error = #expect(throws: IntegrationError.self) { try rules.check(reply) }
            #expect(error?.kind == kind && error?.service?.code == code && error?.service?.message == "no")
        }
    }
}

/// The shorthands' results.
@Suite(.timeLimit(.minutes(5))) struct ProfileShorthandTests {
    /// Source: `Documentation/Migration/AVPlayerCloudDRM.md`.
    @Test func `Cloud DRM's takes a license address, and selects the generation`() throws {
        let certificate = try #require(URL(string: "https://c.example/cert?a=b"))
        let license = try #require(URL(string: "https://l.example/acquire"))
        let present = ConfiguredVendor.cloudDRM(certificate: certificate, brand: "b", license: license)
        #expect(present.profile.settings["licenseURL"] == "https://l.example/acquire")
        #expect(present.configuredURLs.contains(license) && present.profile.missingSettings.isEmpty)
        let legacy = ConfiguredVendor.cloudDRMLegacy(certificate: certificate, brand: "b")
        #expect(legacy.identifier == "cloud-drm-legacy" && legacy.profile.missingSettings.isEmpty)
        #expect(legacy.profile.settings == ["certificateURL": "https://c.example/cert?a=b", "brandGuid": "b"])
    }

    @Test func `ExpressPlay's takes a certificate bundled with the app`() throws {
        let shipped = ConfiguredVendor.expressPlay(certificate: ProfileWire.certificate)
        #expect(try shipped.bundledCertificate()?.bytes == ProfileWire.certificate)
    }

    @Test func `VuDRM's sets the certificate's address`() async throws {
        let url = try #require(URL(string: "https://fairplay-license.vudrm.tech/certificate/x"))
        let wire = ProfileWire(ConfiguredVendor.vuDRM(certificate: url).profile)
        #expect(try await wire.certificateRequest()?.hasPrefix("GET \(url)\n") == true)
    }

    @Test func `Titanium's describes the app's own device`() async throws {
        let device = PlaybackDevice(
            kind: "AppleTV", model: "Apple TV", system: "tvOS", systemVersion: "18.1", appVersion: "4.2")
        let address = try #require(URL(string: "https://l.example/license"))
        let vendor = ConfiguredVendor.titaniumDevice(
            certificate: address, license: address, customer: "Operator", account: "a-1", portal: "p-1", device: device)
        let wire = ProfileWire(.titaniumDevice, token: nil, vendor.profile.settings)
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
    func `the hardware name identifies the device`(
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
}
