import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// The article's example does what the article says.
@Suite struct DocumentedProfileTests {
    private let wire: ProfileWire

    init() throws {
        wire = ProfileWire(
            try VendorProfile(json: DocumentedProfile.json()), key: "skd://movie-1",
            [
                "certificateURL": "https://keys.acme.example/fairplay.cer",
                "licenseURL": "https://keys.acme.example/license",
            ])
    }

    @Test func `the documented requests are sent`() async throws {
        #expect(try await wire.certificateRequest() == "GET https://keys.acme.example/fairplay.cer")
        #expect(
            try await wire.licenseRequest() == """
                POST https://keys.acme.example/license?asset=movie-1
                authorization: Bearer TOKEN
                content-type: application/json

                {"client":"web","spc":"+/8AAQ=="}
                """)
        #expect(try wire.contentIdentifier() == "movie-1")
    }

    @Test func `the documented answer gives CKC and lease`() throws {
        let license = try wire.license(#"{"ckc":"\#(ProfileWire.ckcText)","lease":300}"#)
        #expect(license.ckc == Secret(ProfileWire.ckc))
        #expect(license.terms == LicenseTerms(.lease(.seconds(300))))
    }

    @Test(arguments: [("E17", IntegrationError.Kind.unauthenticated), ("E20", .forbidden), ("E99", .invalidRequest)])
    func `the documented refusals are understood`(code: String, kind: IntegrationError.Kind) {
        let body = #"{"error":{"code":"\#(code)","text":"No."}}"#
        let error = wire.refusal(body, status: 400, [("X-Acme-Request", "r-1")])
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: 400, code: code, message: "No.", requestID: "r-1"))
    }
}
