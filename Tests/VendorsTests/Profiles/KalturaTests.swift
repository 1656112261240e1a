import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct KalturaTests {
    private static let licenseURL = "https://h/fps/license?custom_data=AAAA&signature=BB%3D"
    private let kaltura: ProfileOnPaper

    init() throws {
        kaltura = try ProfileOnPaper(.kaltura, ["certificate": "MIECBQA=", "licenseURL": Self.licenseURL])
    }

    @Test func `the host of the key URI names the key`() throws {
        #expect(try kaltura.identifier("skd://Entry_1=;x/y?z") == "Entry_1=;x")
    }

    @Test func `the certificate comes with the app, or from an address`() async throws {
        #expect(try kaltura.profile.bundledCertificate()?.der == ProfileOnPaper.certificate)
        let fetched = try ProfileOnPaper(.kaltura, ["certificateURL": "https://h/cert"])
        #expect(try fetched.profile.bundledCertificate() == nil)
        #expect(try await fetched.certificateRequest() == .get("https://h/cert"))
        #expect(try fetched.certificate(200, ProfileOnPaper.certificate) == ProfileOnPaper.certificate)
        #expect(try fetched.certificate(200, Data("MIECBQA=".utf8)) == ProfileOnPaper.certificate)
    }

    @Test func `the SPC travels as base64 text under the name of bytes`() async throws {
        #expect(
            try await kaltura.licenseRequest("skd://entry")
                == .post(Self.licenseURL, ["Content-Type": "application/octet-stream"], "++//AA=="))
    }

    @Test(arguments: [
        (#","persistence_duration":86400"#, LicenseTerms(.persistentFor(.seconds(86_400)))),
        (#","persistence_duration":0"#, nil), (#","persistence_duration":-1"#, nil),
        (#","persistence_duration":"x""#, nil), ("", nil),
    ])
    func `a license says how long it may be stored`(member: String, terms: LicenseTerms?) throws {
        let body = #"{"ckc":"\#(ProfileOnPaper.ckc.base64EncodedString())"\#(member)}"#
        let license = try kaltura.license(200, body)
        #expect(license.ckc.revealed == ProfileOnPaper.ckc)
        #expect(license.terms == terms)
    }

    @Test func `what authorizes is not shown`() {
        let shown = kaltura.profile.redaction.redacted(urlText: Self.licenseURL)
        #expect(!shown.contains("AAAA"))
        #expect(!shown.contains("BB"))
    }
}
