import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct BrightcoveTests {
    private static let certificateURL = "https://fps.example.com/fairplay.cer"

    private func profile(_ settings: [String: String], token: String? = nil) throws -> ProfileOnPaper {
        try ProfileOnPaper(.brightcove, settings.merging(["certificateURL": Self.certificateURL]) { $1 }, token: token)
    }

    @Test func `the certificate is at the catalog's address`() async throws {
        #expect(try await profile([:], token: "jwt").certificateRequest() == .get(Self.certificateURL))
    }

    @Test(arguments: [
        (["licenseURL": "https://l/1", "keyRequestURL": "https://k/2", "baseURL": "https://b/3"], "https://l/1"),
        (["keyRequestURL": "https://k/2", "baseURL": "https://b/3"], "https://k/2"),
        (["baseURL": "https://b/3"], "https://b/3/fairplay_session_playback"),
    ])
    func `the license address is the app's, the catalog's or the usual one`(
        settings: [String: String], url: String
    ) async throws {
        #expect(try await profile(settings).licenseRequest("skd://h/k").url == url)
    }

    @Test func `without any address the license request is an error`() async throws {
        let error = try await #require(throws: IntegrationError.self) {
            try await profile([:]).licenseRequest("skd://h/k")
        }
        #expect(error.kind == .missingSetting)
    }

    @Test func `the request names publisher, application and key`() async throws {
        let settings = ["licenseURL": "https://l/1", "publisherId": "42", "applicationId": "app \"1\""]
        #expect(
            try await profile(settings, token: "jwt").licenseRequest("skd://h/path/key-1")
                == .post(
                    "https://l/1", ["Authorization": "Bearer jwt", "Content-Type": "application/json"],
                    #"{"application_id":"app \"1\"","key_id":"key-1","publisher_id":"42","#
                        + #""server_playback_context":"++//AA=="}"#))
    }

    @Test func `publisher and application are empty where they are not known`() async throws {
        #expect(
            try await profile(["licenseURL": "https://l/1"]).licenseRequest("skd://h/key-1")
                == .post(
                    "https://l/1", ["Content-Type": "application/json"],
                    #"{"application_id":"","key_id":"key-1","publisher_id":"","server_playback_context":"++//AA=="}"#))
    }

    @Test(arguments: [200, 201])
    func `a license comes as it is`(status: Int) throws {
        #expect(try profile([:]).license(status, ProfileOnPaper.ckc).ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test(arguments: [
        (202, IntegrationError.Kind.licenseMalformed), (401, .unauthenticated), (403, .forbidden),
        (500, .serverTransient),
    ])
    func `any other status is a refusal`(status: Int, kind: IntegrationError.Kind) throws {
        let error = try #require(throws: IntegrationError.self) { try profile([:]).license(status, ProfileOnPaper.ckc) }
        #expect(error.kind == kind)
    }

    @Test func `the SPC is not shown`() {
        #expect(VendorProfile.brightcove.redaction.isSecret(field: "server_playback_context"))
    }
}
