import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct BrightcoveTests {
    private let brightcove = ProfileWire(.brightcove, key: "skd://h/path/key-1", token: nil)

    @Test func `the certificate is at the catalog's address`() async throws {
        #expect(try await ProfileWire(.brightcove).certificateRequest() == "GET https://c.example/fps.cer")
    }

    @Test(arguments: [
        (["keyRequestURL": "https://k/2", "baseURL": "https://b/3"], "https://l.example/fps"),
        (["licenseURL": "", "keyRequestURL": "https://k/2", "baseURL": "https://b/3"], "https://k/2"),
        (["licenseURL": "", "baseURL": "https://b/3"], "https://b/3/fairplay_session_playback"),
    ])
    func `the license address is the app's, the catalog's or the usual one`(
        settings: [String: String], url: String
    ) async throws {
        let request = try await ProfileWire(.brightcove, token: nil, settings).licenseRequest()
        #expect(request.hasPrefix("POST \(url)\n"))
    }

    @Test func `without any address the license request is an error`() async {
        let wire = ProfileWire(.brightcove, token: nil, ["licenseURL": ""])
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .missingSetting)
    }

    @Test func `the request names publisher, application and key`() async throws {
        let names = ["publisherId": "42", "applicationId": "app \"1\""]
        let expected = #"""
            POST https://l.example/fps
            authorization: Bearer TOKEN
            content-type: application/json

            {"application_id":"app \"1\"","key_id":"key-1","publisher_id":"42","server_playback_context":"+/8AAQ=="}
            """#
        #expect(try await ProfileWire(.brightcove, key: "skd://h/path/key-1", names).licenseRequest() == expected)
    }

    @Test func `publisher and application are empty where they are not known`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/json

            {"application_id":"","key_id":"key-1","publisher_id":"","server_playback_context":"+/8AAQ=="}
            """
        #expect(try await brightcove.licenseRequest() == expected)
    }

    @Test(arguments: [200, 201])
    func `a license comes as it is`(status: Int) throws {
        #expect(try brightcove.license(ProfileWire.ckc, status: status).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (202, IntegrationError.Kind.licenseMalformed), (401, .unauthenticated), (403, .forbidden),
        (500, .serverTransient),
    ])
    func `any other status is a refusal`(status: Int, kind: IntegrationError.Kind) {
        #expect(brightcove.refusal(ProfileWire.ckc, status: status)?.kind == kind)
    }

    @Test func `the SPC is not shown`() {
        #expect(VendorProfile.brightcove.redaction.isSecret(field: "server_playback_context"))
    }
}
