import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct MuxTests {
    private let mux: ProfileOnPaper

    init() throws { mux = try ProfileOnPaper(.mux, ["playbackId": "abc"], token: "a.b-c_d.e") }

    @Test(arguments: [
        (VendorProfile.mux, "skd://h/?playbackId=abc&token=t"), (.muxWeb, "h/?playbackId=abc&token=t"),
    ])
    func `the key URI names the key, with or without its scheme`(profile: VendorProfile, identifier: String) throws {
        let paper = try ProfileOnPaper(profile, ["playbackId": "abc"])
        #expect(try paper.identifier("skd://h/?playbackId=abc&token=t") == identifier)
    }

    @Test func `certificate and license requests have the playback id in the path and the token in the query`()
        async throws
    {
        #expect(
            try await mux.certificateRequest()
                == .get("https://license.mux.com/appcert/fairplay/abc?token=a.b-c_d.e"))
        #expect(
            try await mux.licenseRequest("skd://h/?playbackId=abc&token=t")
                == .post(
                    "https://license.mux.com/license/fairplay/abc?token=a.b-c_d.e",
                    ["Content-Type": "application/octet-stream"], ProfileOnPaper.spc))
    }

    @Test func `a configured address may have the playback id already`() async throws {
        let settings = ["playbackId": "abc", "licenseURL": "https://h/license/fairplay/abc?token=old"]
        let paper = try ProfileOnPaper(.muxWeb, settings, token: "new")
        #expect(try await paper.licenseRequest("skd://a").url == "https://h/license/fairplay/abc?token=new")
    }

    @Test func `certificate and license come as they are`() throws {
        #expect(try mux.certificate(200, ProfileOnPaper.certificate) == ProfileOnPaper.certificate)
        #expect(try mux.license(200, ProfileOnPaper.ckc).ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test func `an empty reply with status 200 is an error worth another try`() throws {
        let certificate = try #require(throws: IntegrationError.self) { try mux.certificate(200, Data()) }
        #expect(certificate.kind == .certificateMalformed)
        #expect(certificate.isRetryable)
        let license = try #require(throws: IntegrationError.self) { try mux.license(200, Data()) }
        #expect(license.kind == .licenseMalformed)
        #expect(license.isRetryable)
    }

    @Test(arguments: [
        (400, IntegrationError.Kind.invalidRequest, false), (403, .unauthenticated, false), (404, .notFound, false),
        (412, .serverTransient, true), (500, .serverTransient, true), (503, .serverTransient, true),
    ])
    func `a status says why`(status: Int, kind: IntegrationError.Kind, isRetryable: Bool) throws {
        for error in [
            try #require(throws: IntegrationError.self) { try mux.certificate(status, Data()) },
            try #require(throws: IntegrationError.self) { try mux.license(status, Data()) },
        ] {
            #expect(error.kind == kind)
            #expect(error.isRetryable == isRetryable)
        }
    }

    @Test func `a playing key is renewed after 23 hours, a stored one never`() {
        #expect(mux.profile.renewal.interval == 23 * 3600)
        #expect(!mux.profile.renewal.renewsStoredKeys)
    }
}
