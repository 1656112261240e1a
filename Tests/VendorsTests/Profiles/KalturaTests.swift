import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct KalturaTests {
    private static let licenseURL = "https://h/fps/license?custom_data=AAAA&signature=BB%3D"
    private let kaltura = ProfileWire(
        .kaltura, key: "skd://Entry_1=;x/y?z",
        ["certificate": ProfileWire.certificateText, "licenseURL": licenseURL])

    @Test func `the host of the key URI names the key`() throws {
        #expect(try kaltura.contentIdentifier() == "Entry_1=;x")
    }

    @Test func `the certificate comes with the app, or from an address`() async throws {
        #expect(try kaltura.profile.bundledCertificate()?.der == ProfileWire.certificate)
        let fetched = ProfileWire(.kaltura)
        #expect(try fetched.profile.bundledCertificate() == nil)
        #expect(try await fetched.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try fetched.certificate(ProfileWire.certificate) == ProfileWire.certificate)
        #expect(try fetched.certificate(Data(ProfileWire.certificateText.utf8)) == ProfileWire.certificate)
    }

    @Test func `the SPC travels as base64 text under the name of bytes`() async throws {
        let expected = """
            POST \(Self.licenseURL)
            content-type: application/octet-stream

            +/8AAQ==
            """
        #expect(try await kaltura.licenseRequest() == expected)
    }

    @Test(arguments: [
        (#","persistence_duration":86400"#, LicenseTerms(.persistentFor(.seconds(86_400)))),
        (#","persistence_duration":0"#, nil), (#","persistence_duration":-1"#, nil),
        (#","persistence_duration":"x""#, nil), ("", nil),
    ])
    func `a license says how long it may be stored`(member: String, terms: LicenseTerms?) throws {
        let license = try kaltura.license(#"{"ckc":"\#(ProfileWire.ckcText)"\#(member)}"#)
        #expect(license.ckc.revealed == ProfileWire.ckc)
        #expect(license.terms == terms)
    }

    @Test func `what authorizes is not shown`() {
        let shown = kaltura.profile.redaction.redacted(urlText: Self.licenseURL)
        #expect(!shown.contains("AAAA"))
        #expect(!shown.contains("BB"))
    }
}
