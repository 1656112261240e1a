import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct ComcastTests {
    private static let settings = [
        "certificateURL": "https://h/fairplay.cer",
        "licenseURL": "https://fairplay.entitlement.theplatform.com/fpls/web/FairPlay",
        "account": "http://access.auth.theplatform.com/data/Account/1", "releasePid": "abcDEF",
    ]
    private let comcast: ProfileOnPaper

    init() throws { comcast = try ProfileOnPaper(.comcast, Self.settings, token: "to+ken") }

    @Test(arguments: [
        ("skd://FairPlay", "abcDEF"), ("skd://host/FairPlay", "abcDEF"), ("skd://host/?pid=FairPlay", "pid=abcDEF"),
        ("skd://host/other", "other"),
    ])
    func `the release's PID stands in for the word FairPlay`(uri: String, identifier: String) throws {
        #expect(try comcast.identifier(.init(uri)) == identifier)
    }

    @Test func `the certificate is asked for without token and account`() async throws {
        #expect(try await comcast.certificateRequest() == .get("https://h/fairplay.cer"))
    }

    @Test func `token and account travel in the query, the SPC in nested JSON`() async throws {
        #expect(
            try await comcast.licenseRequest("skd://FairPlay")
                == .post(
                    "https://fairplay.entitlement.theplatform.com/fpls/web/FairPlay?schema=1.0&form=json"
                        + "&token=to%2Bken&account=http%3A%2F%2Faccess.auth.theplatform.com%2Fdata%2FAccount%2F1",
                    ["Content-Type": "application/json"],
                    #"{"getFairplayLicense":{"releasePid":"abcDEF","spcMessage":"++//AA=="}}"#))
    }

    @Test func `an address with schema and form keeps them`() async throws {
        let url = "https://h/FairPlay?schema=2.0&form=cjson"
        let paper = try ProfileOnPaper(.comcast, Self.settings.merging(["licenseURL": url]) { $1 }, token: "t")
        #expect(try await paper.licenseRequest("skd://FairPlay").url.hasPrefix(url + "&token=t&account="))
    }

    @Test func `a license stands in nested JSON`() throws {
        let body = #"{"getFairplayLicenseResponse":{"ckcResponse":"\#(ProfileOnPaper.ckc.base64EncodedString())"}}"#
        #expect(try comcast.license(200, body).ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test(arguments: [#"{"isException":true}"#, #"{"getFairplayLicenseResponse":{}}"#, "", "<html>"])
    func `another document is an error`(body: String) throws {
        let error = try #require(throws: IntegrationError.self) { try comcast.license(200, body) }
        #expect(error.kind == .licenseMalformed)
    }

    @Test func `a missing token is an error before the network`() async throws {
        let paper = try ProfileOnPaper(.comcast, Self.settings)
        let error = try await #require(throws: IntegrationError.self) {
            try await paper.licenseRequest("skd://FairPlay")
        }
        #expect(error.kind == .missingCredential)
    }

    @Test(arguments: ["spcMessage", "ckcResponse"])
    func `SPC and CKC are not shown`(field: String) {
        #expect(VendorProfile.comcast.redaction.isSecret(field: field))
    }
}
