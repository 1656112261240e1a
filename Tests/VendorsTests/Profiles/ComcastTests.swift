import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct ComcastTests {
    private static let settings = [
        "licenseURL": "https://fairplay.entitlement.theplatform.com/fpls/web/FairPlay",
        "account": "http://access.auth.theplatform.com/data/Account/1", "releasePid": "abcDEF",
    ]
    private let comcast = ProfileWire(.comcast, key: "skd://FairPlay", token: "to+ken", settings)

    /// Only the first: `Documentation/Vendors/Comcast.md`.
    @Test(arguments: [
        ("skd://FairPlay", "abcDEF"), ("skd://host/FairPlay", "abcDEF"), ("skd://host/?pid=FairPlay", "pid=abcDEF"),
        ("skd://host/other", "other"), ("skd://host/FairPlay?a=FairPlay", "a=FairPlay"),
        ("skd://host/FairPlay-FairPlay", "abcDEF-FairPlay"), ("skd:FairPlay", "abcDEF"),
    ])
    func `the release's PID replaces the word FairPlay`(key: KeyURI, identifier: String) throws {
        #expect(try ProfileWire(.comcast, key: key, Self.settings).contentIdentifier() == identifier)
    }

    @Test func `the certificate is asked for without token and account`() async throws {
        #expect(try await comcast.certificateRequest() == "GET https://c.example/fps.cer")
    }

    @Test func `token and account travel in the query, the SPC in nested JSON`() async throws {
        let expected = """
            POST https://fairplay.entitlement.theplatform.com/fpls/web/FairPlay?schema=1.0&form=json\
            &token=to%2Bken&account=http%3A%2F%2Faccess.auth.theplatform.com%2Fdata%2FAccount%2F1
            content-type: application/json

            {"getFairplayLicense":{"releasePid":"abcDEF","spcMessage":"+/8AAQ=="}}
            """
        #expect(try await comcast.licenseRequest() == expected)
    }

    @Test func `an address with schema and form keeps them`() async throws {
        let url = "https://h/FairPlay?schema=2.0&form=cjson"
        var wire = comcast
        wire.profile.settings["licenseURL"] = url
        #expect(try await wire.licenseRequest().hasPrefix("POST \(url)&token=to%2Bken&account="))
    }

    @Test func `a license is in nested JSON`() throws {
        let body = #"{"getFairplayLicenseResponse":{"ckcResponse":"\#(ProfileWire.ckcText)"}}"#
        #expect(try comcast.license(body).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [#"{"isException":true}"#, #"{"getFairplayLicenseResponse":{}}"#, "", "<html>"])
    func `another document is an error`(body: String) {
        #expect(comcast.refusal(body)?.kind == .licenseMalformed)
    }

    @Test func `a missing token is an error before the network`() async {
        let wire = ProfileWire(.comcast, token: nil, Self.settings)
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .missingCredential)
    }

    @Test(arguments: ["spcMessage", "ckcResponse"])
    func `SPC and CKC are not shown`(field: String) {
        #expect(VendorProfile.comcast.redaction.isSecret(field: field))
    }
}
