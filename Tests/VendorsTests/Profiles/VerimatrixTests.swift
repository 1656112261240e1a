import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/Verimatrix.md`.
@Suite(.timeLimit(.minutes(5))) struct VerimatrixTests {
    static let key: KeyURI = "skd://Content_1/a?keyId=2"

    @Test(arguments: [VendorProfile.verimatrix, .verimatrixQuery, .verimatrixLegacy])
    func `the certificate is asked for without a token`(profile: VendorProfile) async throws {
        #expect(try await ProfileWire(profile, key: Self.key).certificateRequest() == "GET https://c.example/fps.cer")
    }

    @Test func `the token travels in a header, without the word Bearer`() async throws {
        let expected = """
            POST https://l.example/fps
            authorization: TOKEN
            content-type: application/json

            {"spc":"+/8AAQ=="}
            """
        #expect(try await ProfileWire(.verimatrix, key: Self.key).licenseRequest() == expected)
    }

    @Test func `or in the query`() async throws {
        let expected = """
            POST https://l.example/fps?Authorization=TOKEN
            content-type: application/json

            {"spc":"+/8AAQ=="}
            """
        #expect(try await ProfileWire(.verimatrixQuery, key: Self.key).licenseRequest() == expected)
        #expect(VendorProfile.verimatrixQuery.redaction.isSecret(queryItem: "Authorization"))
    }

    @Test func `an own server takes the SPC in the URL-safe alphabet, not percent-encoded`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/x-www-form-urlencoded

            spc=-_8AAQ==
            """
        #expect(try await ProfileWire(.verimatrixLegacy, key: Self.key, token: nil).licenseRequest() == expected)
    }

    @Test(arguments: [
        (VendorProfile.verimatrix, "Content_1/a"), (.verimatrixQuery, "Content_1/a"),
        (.verimatrixLegacy, "Content_1/a?keyId=2"),
    ])
    func `the content id ends at the query, but not for an own server`(
        profile: VendorProfile, expected: String
    ) throws {
        #expect(try ProfileWire(profile, key: Self.key).contentIdentifier() == expected)
    }

    @Test(arguments: [ProfileWire.ckcText, ProfileWire.ckcText.replacing("+", with: "-").replacing("/", with: "_")])
    func `the CKC comes in either alphabet`(text: String) throws {
        let license = try ProfileWire(.verimatrix, key: Self.key).license(#"{"ckc":"\#(text)"}"#)
        #expect(license.ckc.revealed == ProfileWire.ckc)
        #expect(license.terms == nil)
    }

    @Test func `the lease of the token's policy is a setting`() throws {
        let wire = ProfileWire(.verimatrix, key: Self.key, ["leaseDuration": "600"])
        let license = try wire.license(#"{"ckc":"\#(ProfileWire.ckcText)"}"#)
        #expect(license.terms == LicenseTerms(.lease(.seconds(600))))
    }

    @Test(arguments: ["<ckc>\(ProfileWire.ckcText)</ckc>", ProfileWire.ckcText, #"{"ckc":"\#(ProfileWire.ckcText)"}"#])
    func `an own server's reply is read whatever its form`(body: String) throws {
        #expect(try ProfileWire(.verimatrixLegacy, key: Self.key).license(body).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (500, "MDRM-1000", Diagnosis.Kind.serverTransient), (401, "MDRM-1001", .unauthenticated),
        (401, "MDRM-1002", .unauthenticated), (404, "MDRM-1003", .notFound), (400, "MDRM-1004", .invalidRequest),
        (404, "MDRM-1005", .notFound), (400, "MDRM-1006", .invalidRequest), (400, "MDRM-1007", .invalidRequest),
        (400, "MDRM-1008", .invalidRequest), (500, "MDRM-1009", .serverTransient),
        (500, "MDRM-1010", .serverTransient), (404, "MDRM-1011", .notFound), (500, "MDRM-1012", .serverTransient),
        (400, "MDRM-1013", .invalidRequest), (400, "MDRM-1014", .invalidRequest), (503, "MDRM-1015", .serverTransient),
    ])
    func `each code is found and understood`(status: Int, code: String, kind: Diagnosis.Kind) {
        let error = ProfileWire(.verimatrix, key: Self.key).refusal("Refused. \(code): no", status: status)
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: status, code: code, message: "Refused. \(code): no"))
    }

    @Test func `a busy key backend says when to come back`() {
        let error = ProfileWire(.verimatrix, key: Self.key).refusal(
            #"{"message":"timeout","code":"MDRM-1015"}"#, status: 503, [("Retry-After", "7")])
        #expect(error?.service == ServiceReply(status: 503, code: "MDRM-1015", message: "timeout", retryAfter: 7))
        #expect(error?.isRetryable == true)
    }
}
