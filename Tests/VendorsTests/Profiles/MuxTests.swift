import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct MuxTests {
    private static let key: KeyURI = "skd://h/?playbackId=abc&token=t"
    private let mux = ProfileWire(.mux, key: key, token: "a.b-c_d.e", ["playbackId": "abc"])

    @Test(arguments: [
        (VendorProfile.mux, "skd://h/?playbackId=abc&token=t"), (.muxWeb, "h/?playbackId=abc&token=t"),
    ])
    func `the key URI names the key, with or without its scheme`(profile: VendorProfile, identifier: String) throws {
        #expect(try ProfileWire(profile, key: Self.key, ["playbackId": "abc"]).contentIdentifier() == identifier)
    }

    @Test func `certificate and license requests have the playback id in the path and the token in the query`()
        async throws
    {
        let expected = """
            POST https://license.mux.com/license/fairplay/abc?token=a.b-c_d.e
            content-type: application/octet-stream

            fbff0001
            """
        #expect(
            try await mux.certificateRequest()
                == "GET https://license.mux.com/appcert/fairplay/abc?token=a.b-c_d.e")
        #expect(try await mux.licenseRequest() == expected)
    }

    @Test func `a configured address may have the playback id already`() async throws {
        let settings = ["playbackId": "abc", "licenseURL": "https://h/license/fairplay/abc?token=old"]
        let request = try await ProfileWire(.muxWeb, settings).licenseRequest()
        #expect(request.hasPrefix("POST https://h/license/fairplay/abc?token=TOKEN\n"))
    }

    /// Source: `Documentation/Vendors/Mux.md`.
    @Test func `modifiers of the stream are no part of the playback id`() async throws {
        let wire = ProfileWire(.mux, key: Self.key, ["playbackId": "abc?redundant_streams=true"])
        #expect(try await wire.certificateRequest() == "GET https://license.mux.com/appcert/fairplay/abc?token=TOKEN")
        #expect(
            try await wire.licenseRequest().hasPrefix("POST https://license.mux.com/license/fairplay/abc?token=TOKEN\n")
        )
    }

    @Test func `certificate and license come as they are`() throws {
        #expect(try mux.certificate(ProfileWire.certificate) == ProfileWire.certificate)
        #expect(try mux.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
    }

    @Test func `an empty reply with status 200 is an error worth another try`() {
        let errors = [
            #expect(throws: IntegrationError.self) { try mux.certificate(Data()) }, mux.refusal(Data()),
        ]
        #expect(errors.map { $0?.kind } == [.certificateMalformed, .licenseMalformed])
        #expect(errors.allSatisfy { $0?.isRetryable == true })
    }

    @Test(arguments: [
        (400, Diagnosis.Kind.invalidRequest, false), (403, .unauthenticated, false), (404, .notFound, false),
        (412, .serverTransient, true), (500, .serverTransient, true), (503, .serverTransient, true),
    ])
    func `a status says why`(status: Int, kind: Diagnosis.Kind, isRetryable: Bool) {
        let errors = [
            #expect(throws: IntegrationError.self) { try mux.certificate(Data(), status: status) },
            mux.refusal(Data(), status: status),
        ]
        #expect(errors.allSatisfy { $0?.kind == kind && $0?.isRetryable == isRetryable })
    }

    /// Source: pull requests 98 and 104 of muxinc/mux-player-swift.
    @Test func `a playing key is renewed and cached for 23 hours, and a stored one is renewed without its media`() {
        let renewal = mux.profile.renewal
        #expect(renewal.interval == 23 * 3600 && renewal.cacheLifetime == 23 * 3600)
        #expect(renewal.renewsStoredKeys)
    }
}
