import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct KalturaTests {
    private static let licenseURL = "https://h/fps/license?custom_data=AAAA&signature=BB%3D"
    private let kaltura = ProfileWire(
        .kaltura, key: "skd://Entry_1=;x/y?z",
        ["certificate": ProfileWire.certificateText, "licenseURL": licenseURL])

    @Test func `the host of the key URI names the key`() throws {
        #expect(try kaltura.contentIdentifier() == "Entry_1=;x")
    }

    @Test func `the certificate comes with the app, or from an address`() async throws {
        #expect(try kaltura.profile.unchecked.bundledCertificate()?.bytes == ProfileWire.certificate)
        let fetched = ProfileWire(.kaltura)
        #expect(try fetched.profile.unchecked.bundledCertificate() == nil)
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

    /// Source: `Documentation/Vendors/Kaltura.md`.
    @Test func `the web player names the key in a header`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/json
            x-kaltura-initdata: RW50cnlfMQ==

            +/8AAQ==
            """
        #expect(try await ProfileWire(.kalturaWeb, key: "skd://Entry_1/x").licenseRequest() == expected)
    }

    /// Source: `Documentation/Vendors/Kaltura.md`; the web player looks for these members.
    @Test(arguments: [VendorProfile.kaltura, .kalturaWeb])
    func `an error document with status 200 is a refusal in the vendor's words`(profile: VendorProfile) {
        let wire = ProfileWire(profile, key: "skd://Entry_1")
        let error = wire.refusal(#"{"message":"internal error","reference":null,"status_code":500}"#)
        #expect(error?.kind == .serverTransient)
        #expect(error?.service == ServiceReply(status: 200, code: "500", message: "internal error"))
        let other = wire.refusal(#"{"message":"entry not found"}"#)
        #expect(other?.kind == .licenseMalformed)
        #expect(other?.reason == #"The JSON reply has no "ckc". The service says "entry not found"."#)
    }

    @Test func `what authorizes is not shown`() {
        let shown = kaltura.profile.redaction.redacted(urlText: Self.licenseURL)
        #expect(!shown.contains("AAAA"))
        #expect(!shown.contains("BB"))
    }
}
