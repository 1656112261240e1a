import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// The bytes of `vendors.md` §1.
@Suite struct VuDRMTests {
    static let certificateURL = "https://fairplay-license.vudrm.tech/certificate/demo-client?was=here"
    static let key: KeyURI = "skd://fairplay-license.vudrm.tech/license/big-buck_bunny"

    private func ready(_ profile: VendorProfile) -> ProfileWire {
        ProfileWire(
            profile, key: Self.key, token: TokenSample.vuDRM,
            ["certificateURL": Self.certificateURL, "licenseURL": ""])
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo])
    func `the JSON dialect asks for the certificate with the token in a header and without the query`(
        profile: VendorProfile
    ) async throws {
        let expected = """
            GET https://fairplay-license.vudrm.tech/certificate/demo-client
            cache-control: max-age=0
            x-vudrm-token: \(TokenSample.vuDRM)
            """
        #expect(try await ready(profile).certificateRequest() == expected)
    }

    @Test func `the raw dialect asks for the certificate without a token`() async throws {
        #expect(try await ready(.vuDRMRaw).certificateRequest() == "GET \(Self.certificateURL)")
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo])
    func `the JSON dialect posts token, content id and SPC`(profile: VendorProfile) async throws {
        let expected = """
            POST https://fairplay-license.vudrm.tech/license/big-buck_bunny
            content-type: application/json

            {"contentId":"big-buck_bunny","payload":"+/8AAQ==","token":"\(TokenSample.vuDRM)"}
            """
        #expect(try await ready(profile).licenseRequest() == expected)
    }

    @Test func `the raw dialect posts the SPC with the token in a header`() async throws {
        let expected = """
            POST https://fairplay-license.vudrm.tech/license/big-buck_bunny
            content-type: application/octet-stream
            x-vudrm-token: \(TokenSample.vuDRM)

            fbff0001
            """
        #expect(try await ready(.vuDRMRaw).licenseRequest() == expected)
    }

    @Test func `a configured license URL takes the place of the key URI's`() async throws {
        let wire = ProfileWire(.vuDRMTheo, key: Self.key, ["licenseURL": "https://proxy.example/license"])
        #expect(try await wire.licenseRequest().hasPrefix("POST https://proxy.example/license\n"))
    }

    @Test(arguments: [
        (VendorProfile.vuDRM, "skd://fairplay-license.vudrm.tech/license/big-buck_bunny"),
        (.vuDRMTheo, "big-buck_bunny"), (.vuDRMRaw, "big-buck_bunny"),
    ])
    func `the dialects differ in what the SPC is made for`(profile: VendorProfile, expected: String) throws {
        #expect(try ready(profile).contentIdentifier() == expected)
    }

    @Test func `a key URI without a content id is refused before anything is sent`() async {
        let wire = ProfileWire(.vuDRM, key: "skd://fairplay-license.vudrm.tech/license/")
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo, .vuDRMRaw])
    func `the reply is the CKC, and the certificate is DER`(profile: VendorProfile) throws {
        #expect(try ready(profile).license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
        #expect(try ready(profile).certificate(ProfileWire.certificate) == ProfileWire.certificate)
    }

    @Test func `a refusal carries the request id`() {
        let error = ready(.vuDRM).refusal("", status: 403, [("X-Request-ID", "r-17")])
        #expect(error?.kind == .forbidden)
        #expect(error?.service == ServiceReply(status: 403, requestID: "r-17"))
        #expect(error?.reason == "The service answered 403 (request r-17).")
    }

    @Test func `the shorthand sets the certificate's address`() async throws {
        let url = try #require(URL(string: "https://fairplay-license.vudrm.tech/certificate/x"))
        let wire = ProfileWire(.vuDRM(certificate: url))
        #expect(try await wire.certificateRequest()?.hasPrefix("GET \(url)\n") == true)
    }
}
