import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// A profile and its settings.
///
/// That a profile alone is no vendor is in the types: `ContentKeyLoader` takes a `DRMIntegration`, and `VendorProfile` is none.
@Suite struct ConfiguredVendorTests {
    @Test func `a profile by itself is no integration`() {
        #expect((VendorProfile.axinom as Any) is any DRMIntegration == false)
        #expect((VendorProfile.axinom.unchecked as Any) is any DRMIntegration)
    }

    @Test(arguments: VendorProfile.all)
    func `a profile becomes a vendor with its required settings, and names the one that is missing`(
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

    @Test func `given settings take precedence over the profile's own`() throws {
        let vendor = try VendorProfile.keyOS.configured([
            "certificateURL": "https://c.example/a", "licenseURL": "https://l.example/b", "header": "x-mine",
        ])
        #expect(vendor.profile.settings["header"] == "x-mine")
        #expect(vendor.setting("header", to: "x-other").profile.settings["header"] == "x-other")
        #expect("\(vendor)" == "keyos")
    }

    static let certificate = URL(filePath: "/certificate")
    static let license = URL(filePath: "/license")
    static let shorthands: [ConfiguredVendor] = [
        .axinom(certificate: certificate, license: license), .azure(certificate: certificate),
        .brightcove(account: "1"), .brightcove(certificate: certificate, keyRequest: license),
        .cloudDRM(certificate: certificate, brand: "b"), .cloudDRMLegacy(certificate: certificate, brand: "b"),
        .doveRunner(site: "DEMO"), .drmToday(certificate: certificate, license: license),
        .expressPlay(certificate: Data([1])), .expressPlay(certificate: Data([1]), entitlement: license),
        .expressPlay(certificate: Data([1]), onPremise: license), .ezdrm(certificate: certificate),
        .irdeto(certificate: certificate), .jwPlatform(delivery: license),
        .keyOS(certificate: certificate, license: license), .mux(playbackID: "p"),
        .nagra(certificate: certificate, license: license), .titanium(certificate: certificate, license: license),
        .uplynk(certificate: certificate), .verimatrix(certificate: certificate, license: license),
        .vuDRM(certificate: certificate), .vuDRMJW4(certificate: certificate),
        .expressPlay(certificate: Data([1]), tokenServer: license),
    ]

    @Test(arguments: shorthands)
    func `a shorthand gives all that its profile requires`(vendor: ConfiguredVendor) {
        #expect(vendor.profile.missingSettings.isEmpty)
        #expect(!vendor.profile.settings.isEmpty)
    }
}
