import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// A profile and its settings.
///
/// The types say that a profile alone is not a vendor: `ContentKeyLoader` takes a `VendorIntegration`, which `VendorProfile` is not.
@Suite struct ConfiguredVendorTests {
    @Test func `a profile alone is not an integration`() {
        #expect((VendorProfile.axinom as Any) is any VendorIntegration == false)
        #expect((VendorProfile.axinom.unchecked as Any) is any VendorIntegration)
    }

    @Test(arguments: VendorProfile.all)
    func `a profile becomes a vendor with its required settings, and names a missing one`(
        profile: VendorProfile
    ) throws {
        let required = profile.parameters.filter { $0.isRequired && !$0.isCredential }
        let settings = Dictionary(required.map { ($0.name, $0.example) }) { $1 }
        let vendor = try profile.configured(settings)
        #expect(vendor.identifier == profile.identifier && vendor.profile.missingSettings.isEmpty)
        for parameter in required where profile.settings[parameter.name] == nil {
            let error = #expect(throws: IntegrationError.self) {
                try profile.configured(settings.filter { $0.key != parameter.name })
            }
            #expect(error?.kind == .missingSetting)
            #expect(error?.reason == "\(profile.name) needs the setting \"\(parameter.name)\".")
        }
    }

    @Test func `given settings override the profile's own`() throws {
        let vendor = try VendorProfile.keyOS.configured([
            "certificateURL": "https://c.example/a", "licenseURL": "https://l.example/b", "header": "x-mine",
        ])
        #expect(vendor.profile.settings["header"] == "x-mine")
        #expect(vendor.setting("header", to: "x-other").profile.settings["header"] == "x-other")
        #expect("\(vendor)" == "keyos")
    }

    static let certificate = URL(filePath: "/certificate")
    static let license = URL(filePath: "/license")
    /// A call of each shorthand, in the order of `VendorProfile.all`.
    static let shorthands: [ConfiguredVendor] =
        [
            .vuDRM(certificate: certificate), .vuDRMTheo(certificate: certificate), .vuDRMRaw(certificate: certificate),
            .vuDRMJW4(certificate: certificate), .cloudDRM(certificate: certificate, brand: "b"),
            .cloudDRMCertificateToken(certificate: certificate, brand: "b"),
            .cloudDRMLegacy(certificate: certificate, brand: "b"), .azure(certificate: certificate),
            .azureWeb(certificate: certificate), .azureHost(certificate: certificate, license: license),
            .uplynk(certificate: certificate), .uplynkWeb(certificate: certificate), .ezdrm(certificate: certificate),
            .ezdrmComplete(certificate: certificate, license: license),
            .ezdrmTemplate(certificate: certificate, license: license), .ezdrmCustomData(certificate: certificate),
            .ezdrmWeb(certificate: certificate), .verimatrix(certificate: certificate, license: license),
            .verimatrixQuery(certificate: certificate, license: license),
            .verimatrixLegacy(certificate: certificate, license: license),
            .titanium(certificate: certificate, license: license), .titanium(certificate: Data([1]), license: license),
            .titaniumTheo(certificate: certificate, license: license),
            .titaniumWeb(certificate: certificate, license: license),
            .titaniumDevice(
                certificate: certificate, license: license, customer: "c", account: "a", portal: "p", device: device),
            .expressPlay(certificate: Data([1])), .expressPlay(certificate: Data([1]), entitlement: license),
            .expressPlay(certificate: Data([1]), tokenServer: license),
            .expressPlay(certificate: Data([1]), onPremise: license),
            .nagra(certificate: certificate, license: license, session: license),
            .nagraTheo(certificate: certificate, license: license),
            .axinom(certificate: certificate, license: license),
            .axinomQuery(certificate: certificate, license: license),
            .keyOS(certificate: certificate, license: license),
            .keyOSCustomData(certificate: certificate, license: license),
            .keyOSHost(certificate: certificate, license: license),
            .keyOSiOS(certificate: certificate, license: license),
        ] + [
            .drmToday(certificate: certificate), .drmTodayCustomData(merchant: "m", user: "u", session: "s"),
            .drmTodayQuery(merchant: "m", user: "u", session: "s"), .doveRunner(site: "DEMO"),
            .doveRunnerQuery(site: "DEMO"), .irdeto(certificate: certificate, application: "app"),
            .irdetoTheo(certificate: certificate), .mux(playbackID: "p"), .muxWeb(playbackID: "p"),
            .brightcove(account: "1"), .brightcove(certificate: certificate, keyRequest: license),
            .jwPlatform(delivery: license), .conax(certificate: certificate, license: license),
            .comcast(certificate: certificate, license: license, account: license, release: "pid"),
            .anvato(certificate: certificate, license: license), .kaltura(certificate: certificate, license: license),
            .kaltura(certificate: Data([1]), license: license),
            .kalturaWeb(certificate: certificate, license: license),
            .gumlet(certificate: certificate, license: license),
            .bunnyStream(library: "1", video: "v"), .sigma(merchant: "m", app: "a", user: "u"),
            .sigmaForm(merchant: "m", app: "a", user: "u"), .naver(accessKey: "key"),
            .latchkey(certificate: certificate, license: license),
            .appleSample(certificate: certificate, license: license), .genericRaw(certificate: certificate),
            .genericBase64(certificate: certificate, license: license),
            .genericForm(certificate: certificate, contentID: "id"), .genericJSON(certificate: certificate),
        ]

    static let device = PlaybackDevice(
        kind: "AppleTV", model: "Apple TV", system: "tvOS", systemVersion: "18.1", appVersion: "4.2")

    @Test func `each profile has a shorthand with labels`() {
        let made = Self.shorthands.map(\.identifier)
        #expect(made.reduce(into: []) { if $0.last != $1 { $0.append($1) } } == VendorProfile.all.map(\.identifier))
    }

    @Test(arguments: shorthands)
    func `a shorthand gives its profile all required values, under its names`(vendor: ConfiguredVendor) {
        let profile = vendor.profile
        #expect(profile.missingSettings.isEmpty)
        let own = Set(profile.parameters.filter { !$0.isCredential }.map(\.name))
        let before = VendorProfile.named(profile.identifier)?.settings ?? [:]
        #expect(profile.settings.filter { before[$0.key] != $0.value && !own.contains($0.key) } == [:])
        #expect(profile.settings != before)
    }

    @Test func `a shorthand puts each value into its setting`() {
        let made = ConfiguredVendor.comcast(
            certificate: Self.certificate, license: Self.license, account: Self.certificate, release: "pid")
        #expect(
            made.profile.settings == [
                "certificateURL": "file:///certificate", "licenseURL": "file:///license",
                "account": "file:///certificate", "releasePid": "pid",
            ])
        #expect(
            ConfiguredVendor.kaltura(certificate: Data([1]), license: Self.license).profile.settings
                == ["certificate": "AQ==", "licenseURL": "file:///license"])
    }
}
