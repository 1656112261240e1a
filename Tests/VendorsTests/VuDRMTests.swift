import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// The bytes of `vendors.md` §1.
@Suite struct VuDRMTests {
    static let certificateURL = "https://fairplay-license.vudrm.tech/certificate/demo-client?was=here"
    static let key: KeyURI = "skd://fairplay-license.vudrm.tech/license/big-buck_bunny"

    private func ready(_ profile: VendorProfile) -> VendorProfile {
        profile.setting("certificateURL", to: Self.certificateURL)
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo])
    func `the JSON dialect asks for the certificate with the token in a header and without the query`(
        profile: VendorProfile
    ) async throws {
        let expected = """
            GET https://fairplay-license.vudrm.tech/certificate/demo-client
            cache-control: max-age=0
            x-vudrm-token: \(vuDRMToken)


            """
        #expect(try await ready(profile).certificateWire(token: vuDRMToken) == expected)
    }

    @Test func `the raw dialect asks for the certificate without a token`() async throws {
        let expected = "GET https://fairplay-license.vudrm.tech/certificate/demo-client?was=here\n\n"
        #expect(try await ready(.vuDRMRaw).certificateWire() == expected)
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo])
    func `the JSON dialect posts token, content id and SPC`(profile: VendorProfile) async throws {
        let expected = """
            POST https://fairplay-license.vudrm.tech/license/big-buck_bunny
            content-type: application/json

            {"contentId":"big-buck_bunny","payload":"AAECA/v//v8=","token":"\(vuDRMToken)"}
            """
        #expect(try await ready(profile).licenseWire(Self.key, token: vuDRMToken) == expected)
    }

    @Test func `the raw dialect posts the SPC with the token in a header`() async throws {
        let expected = """
            POST https://fairplay-license.vudrm.tech/license/big-buck_bunny
            content-type: application/octet-stream
            x-vudrm-token: \(vuDRMToken)

            00010203fbfffeff
            """
        #expect(try await ready(.vuDRMRaw).licenseWire(Self.key, token: vuDRMToken) == expected)
    }

    @Test func `a configured license URL takes the place of the key URI's`() async throws {
        let profile = ready(.vuDRMTheo).setting("licenseURL", to: "https://proxy.example/license")
        #expect(try await profile.licenseWire(Self.key).hasPrefix("POST https://proxy.example/license\n"))
    }

    @Test(arguments: [
        (VendorProfile.vuDRM, "skd://fairplay-license.vudrm.tech/license/big-buck_bunny"),
        (.vuDRMTheo, "big-buck_bunny"), (.vuDRMRaw, "big-buck_bunny"),
    ])
    func `the dialects differ in what the SPC is made for`(profile: VendorProfile, expected: String) throws {
        #expect(try profile.contentIdentifier(for: Self.key) == ContentIdentifier(expected))
    }

    @Test func `a key URI without a content id is refused before anything is sent`() async throws {
        let error = await #expect(throws: IntegrationError.self) {
            try await ready(.vuDRM).licenseWire("skd://fairplay-license.vudrm.tech/license/")
        }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo, .vuDRMRaw])
    func `the reply is the CKC, and the certificate is DER`(profile: VendorProfile) throws {
        #expect(try profile.license(SampleBytes.ckc(7)).ckc.revealed == SampleBytes.ckc(7))
        #expect(try profile.certificate(SampleBytes.certificate).der == SampleBytes.certificate)
    }

    @Test func `a refusal carries the request id`() throws {
        let error = #expect(throws: IntegrationError.self) {
            try VendorProfile.vuDRM.license(Data(), status: 403, [("X-Request-ID", "r-17")])
        }
        #expect(error?.kind == .forbidden)
        #expect(error?.service == ServiceReply(status: 403, requestID: "r-17"))
        #expect(error?.reason == "The service answered 403 (request r-17).")
    }

    @Test func `the shorthand sets the certificate's address`() async throws {
        let url = try #require(URL(string: "https://fairplay-license.vudrm.tech/certificate/x"))
        let profile: VendorProfile = .vuDRM(certificate: url)
        #expect(try await profile.certificateWire()?.contains("/certificate/x\n") == true)
    }
}
