import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct BrightcoveTests {
    private let brightcove = ProfileWire(.brightcove, key: "skd://h/path/key-1", token: nil)

    @Test func `the certificate is at the catalog's address, else it is the account's`() async throws {
        #expect(try await ProfileWire(.brightcove).certificateRequest() == "GET https://c.example/fps.cer")
        let account = ProfileWire(.brightcove, ["certificateURL": "", "publisherId": "42"])
        #expect(
            try await account.certificateRequest()
                == "GET https://manifest.prod.boltdns.net/license/v1/fairplay_app_cert/42")
        let error = await #expect(throws: IntegrationError.self) {
            try await ProfileWire(.brightcove, ["certificateURL": ""]).certificateRequest()
        }
        #expect(error?.kind == .missingSetting)
    }

    /// Source: `Documentation/Vendors/Brightcove.md`.
    @Test func `a key that is stored is asked for with its rights`() async throws {
        let request = try await ProfileWire(.brightcove, token: nil).licenseRequest(.persistable)
        let rights = Data(#"{"profile":{"purchase":{}}}"#.utf8).base64EncodedString()
        #expect(request.contains("\nx-bc-crt-config: \(rights)\nx-bolt-offline-license: true\n"))
        #expect(try await !ProfileWire(.brightcove, token: nil).licenseRequest().contains("x-b"))
    }

    /// Source: the vendor's Playback Rights error reference.
    @Test(arguments: [
        (401, "TOKEN_REQUIRED", Diagnosis.Kind.unauthenticated), (403, "CLIENT_GEO", .regionDenied),
        (403, "DENIED_BY_STREAM_LIMIT_CREATE", .concurrencyLimit), (403, "DOMAIN", .forbidden),
        (404, "VIDEO_NOT_FOUND", .notFound),
    ])
    func `a subcode says what a refusal means`(status: Int, code: String, kind: Diagnosis.Kind) {
        let body = #"[{"error_code":"X","error_subcode":"\#(code)","message":"no"}]"#
        let error = brightcove.refusal(body, status: status)
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: status, code: code, message: "no"))
    }

    @Test(arguments: [
        (["keyRequestURL": "https://k/2", "baseURL": "https://b/3"], "https://l.example/fps"),
        (["licenseURL": "", "keyRequestURL": "https://k/2", "baseURL": "https://b/3"], "https://k/2"),
        (["licenseURL": "", "baseURL": "https://b/3"], "https://b/3/fairplay_session_playback"),
        (["licenseURL": ""], "https://fps.brightcove.com/v1/fairplay_session_playback"),
    ])
    func `the license address is the app's, the catalog's or the usual one`(
        settings: [String: String], url: String
    ) async throws {
        let request = try await ProfileWire(.brightcove, token: nil, settings).licenseRequest()
        #expect(request.hasPrefix("POST \(url)\n"))
    }

    @Test func `without any address the license request is an error`() async {
        let wire = ProfileWire(.brightcove, token: nil, ["licenseURL": "", "baseURL": ""])
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .missingSetting)
    }

    @Test func `the request names publisher, application and key`() async throws {
        let names = ["publisherId": "42", "applicationId": "app \"1\""]
        let expected = #"""
            POST https://l.example/fps
            bcov-auth: TOKEN
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
    func `a license is read unchanged`(status: Int) throws {
        #expect(try brightcove.license(ProfileWire.ckc, status: status).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (202, Diagnosis.Kind.licenseMalformed), (401, .unauthenticated), (403, .forbidden),
        (500, .serverTransient),
    ])
    func `any other status is a refusal`(status: Int, kind: Diagnosis.Kind) {
        #expect(brightcove.refusal(ProfileWire.ckc, status: status)?.kind == kind)
    }

    @Test func `the SPC is not shown`() {
        #expect(VendorProfile.brightcove.redaction.isSecret(field: "server_playback_context"))
    }
}
