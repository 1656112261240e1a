import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct IrdetoTests {
    private static let base = "https://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER"
    private static let certificateURL = base + "/getcertificate"
    private static let keyURI =
        "skd://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER/getckc"
        + "?contentId=demo%201&keyId=00000000-0000-0000-0000-000000000001"

    private func profile(_ settings: [String: String] = [:], token: String? = nil) throws -> ProfileOnPaper {
        try ProfileOnPaper(
            .irdeto, settings.merging(["certificateURL": Self.certificateURL]) { $1 }, token: token)
    }

    @Test(arguments: [
        (VendorProfile.irdeto, "skd://h/getckc?contentId=a&keyId=b", "a"),
        (.irdeto, "skd://h/getckc?KeyId=b&ContentId=a", "a"),
        (.irdetoTheo, "skd://h/getckc?contentId=a&keyId=b", "skd://h/getckc?contentId=a&keyId=b"),
    ])
    func `the content id or the whole key URI names the key`(
        profile: VendorProfile, uri: String, identifier: String
    ) throws {
        #expect(try ProfileOnPaper(profile, [:]).identifier(.init(uri)) == identifier)
    }

    @Test func `a configured content id stands in for one that the key URI lacks`() throws {
        #expect(try profile(["contentId": "mine"]).identifier("skd://h/getckc") == "mine")
        let error = try #require(throws: IntegrationError.self) { try profile().identifier("skd://h/getckc") }
        #expect(error.kind == .missingSetting)
    }

    @Test(arguments: [
        (["applicationId": "app"], base + "/getcertificate?applicationId=app"), ([:], base + "/getcertificate"),
        (
            ["certificateURL": base + "/getcertificate?applicationid=theirs", "applicationId": "app"],
            base + "/getcertificate?applicationid=theirs"
        ),
    ])
    func `the certificate is asked for by application`(settings: [String: String], url: String) async throws {
        let all = ["certificateURL": Self.certificateURL].merging(settings) { $1 }
        #expect(try await ProfileOnPaper(.irdeto, all, token: "jwt").certificateRequest() == .get(url))
    }

    @Test(arguments: [
        // The key URI's own address, copied as it stands.
        (
            [:], keyURI,
            base + "/getckc?contentId=demo%201&keyId=00000000-0000-0000-0000-000000000001"
        ),
        // A configured address takes both from the key URI, under their usual names, not decoded.
        (
            ["licenseURL": "https://h/getckc"], "skd://x/?ContentId=a%2Bb&KEYID=k",
            "https://h/getckc?contentId=a%2Bb&keyId=k"
        ),
        // What the settings state goes before the key URI, and what the address has before both.
        (
            ["licenseURL": "https://h/getckc", "contentId": "mine", "keyId": "7"], "skd://x/?contentId=a&keyId=k",
            "https://h/getckc?contentId=mine&keyId=7"
        ),
        (
            ["licenseURL": "https://h/getckc?ContentId=fixed", "contentId": "mine"], "skd://x/?contentId=a&keyId=k",
            "https://h/getckc?ContentId=fixed&keyId=k"
        ),
    ])
    func `the license goes to the key URI or to a configured address`(
        settings: [String: String], uri: String, url: String
    ) async throws {
        #expect(
            try await profile(settings).licenseRequest(.init(uri))
                == .post(url, ["Content-Type": "application/octet-stream"], ProfileOnPaper.spc))
    }

    @Test func `a token travels as a bearer token`() async throws {
        let request = try await profile(token: "jwt").licenseRequest("skd://h/getckc?contentId=a&keyId=k")
        #expect(
            request
                == .post(
                    "https://h/getckc?contentId=a&keyId=k",
                    ["Authorization": "Bearer jwt", "Content-Type": "application/octet-stream"], ProfileOnPaper.spc))
    }

    @Test func `certificate and license come as they are`() throws {
        #expect(try profile().certificate(200, ProfileOnPaper.certificate) == ProfileOnPaper.certificate)
        #expect(try profile().license(200, ProfileOnPaper.ckc).ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test(arguments: [
        (401, IntegrationError.Kind.unauthenticated), (403, .forbidden), (404, .notFound), (400, .invalidRequest),
        (500, .serverTransient),
    ])
    func `the status is all that a refusal says`(status: Int, kind: IntegrationError.Kind) throws {
        let error = try #require(throws: IntegrationError.self) { try profile().license(status, "whatever") }
        #expect(error.kind == kind)
        #expect(!error.description.contains("whatever"))
    }
}
