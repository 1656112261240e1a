import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/Azure.md`.
@Suite(.timeLimit(.minutes(5))) struct AzureTests {
    static let key: KeyURI = "skd://acct.keydelivery.westus.media.azure.net/FairPlay/?kid=0a1b"
    static let noLicenseURL = ["licenseURL": ""]

    @Test func `the certificate is asked for with the bearer token`() async throws {
        let expected = """
            GET https://c.example/fps.cer
            authorization: Bearer TOKEN
            """
        #expect(try await ProfileWire(.azure, key: Self.key).certificateRequest() == expected)
    }

    @Test func `an open policy sends no authorization`() async throws {
        let wire = ProfileWire(.azure, key: Self.key, token: "")
        #expect(try await wire.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try await !wire.licenseRequest().contains("authorization"))
    }

    @Test(arguments: [
        (VendorProfile.azure, "kid%3D0a1b"), (.azureWeb, "kid%3D0a1b"),
        (.azureHost, "acct.keydelivery.westus.media.azure.net"),
    ])
    func `the license goes to the key URI with both fields percent-encoded`(
        profile: VendorProfile, assetID: String
    ) async throws {
        let expected = """
            POST https://acct.keydelivery.westus.media.azure.net/FairPlay/?kid=0a1b
            authorization: Bearer TOKEN
            content-type: application/x-www-form-urlencoded

            spc=%2B%2F8AAQ%3D%3D&assetId=\(assetID)
            """
        #expect(try await ProfileWire(profile, key: Self.key, Self.noLicenseURL).licenseRequest() == expected)
    }

    @Test(arguments: [
        ("https://l.example/FairPlay/", "https://l.example/FairPlay/?kid=0a1b"),
        ("https://l.example/FairPlay/?kid=ff", "https://l.example/FairPlay/?kid=ff"),
    ])
    func `a configured license URL gets the key URI's kid unless it has one`(given: String, sent: String) async throws {
        let wire = ProfileWire(.azure, key: Self.key, ["licenseURL": given])
        #expect(try await wire.licenseRequest().hasPrefix("POST \(sent)\n"))
    }

    @Test(arguments: [
        (VendorProfile.azure, "skd://h/a?b?c=d", "c=d"), (.azure, "skd://h/a", "skd://h/a"),
        (.azureWeb, "skd://h/a?b?c=d", "b?c=d"), (.azureWeb, "skd://abc/efgh", "abc/efgh"),
        (.azureWeb, "skd://h.example/part/last", "last"), (.azureHost, "skd://Acct_1:443/a?kid=b", "Acct_1:443"),
    ])
    func `the three rules name a key differently`(profile: VendorProfile, key: KeyURI, expected: String) throws {
        #expect(try ProfileWire(profile, key: key).contentIdentifier() == expected)
    }

    @Test(arguments: [
        "<ckc>\(ProfileWire.ckcText)</ckc>", "\n <ckc>\(ProfileWire.ckcText)</ckc>\r\n", ProfileWire.ckcText,
    ])
    func `the reply is base64, with or without its tag`(body: String) throws {
        #expect(try ProfileWire(.azure, key: Self.key).license(body).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (401, Diagnosis.Kind.unauthenticated), (403, .forbidden), (404, .notFound), (200, .licenseMalformed),
    ])
    func `a refusal keeps its status`(status: Int, kind: Diagnosis.Kind) {
        let error = ProfileWire(.azure, key: Self.key).refusal(
            #"{"a":"no"}"#, status: status, [("x-request-id", "r-1")])
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: status, requestID: "r-1"))
    }
}
