import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/VuDRM.md`.
@Suite(.timeLimit(.minutes(5))) struct VuDRMTests {
    static let certificateURL = "https://fairplay-license.vudrm.tech/certificate/demo-client?was=here"
    static let key: KeyURI = "skd://fairplay-license.vudrm.tech/license/big-buck_bunny"

    private func ready(_ profile: VendorProfile) -> ProfileWire {
        ProfileWire(
            profile, key: Self.key, token: TokenSample.vuDRM,
            ["certificateURL": Self.certificateURL, "licenseURL": ""])
    }

    @Test func `THEOplayer asks for the certificate's unchanged address, with the token in a header`() async throws {
        let expected = "GET \(Self.certificateURL)\nx-vudrm-token: \(TokenSample.vuDRM)"
        #expect(try await ready(.vuDRMTheo).certificateRequest() == expected)
    }

    @Test func `the document asks for the certificate with the token in a header and without the query`() async throws {
        let expected = """
            GET https://fairplay-license.vudrm.tech/certificate/demo-client
            cache-control: max-age=0
            x-vudrm-token: \(TokenSample.vuDRM)
            """
        #expect(try await ready(.vuDRM).certificateRequest() == expected)
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

    /// Source: `Documentation/Vendors/VuDRM.md`, V2.
    @Test(arguments: [
        (key.raw, key.raw, "https://fairplay-license.vudrm.tech/license/big-buck_bunny"),
        (
            "skd://any/path;skd://fairplay-license.vudrm.tech/v2/license/a",
            "skd://fairplay-license.vudrm.tech/v2/license/a",
            "https://fairplay-license.vudrm.tech/v2/license/a"
        ),
    ])
    func `JW Player 4's page posts the SPC to the key URI's last part, with the token in both requests`(
        _ key: String, _ identifier: String, _ license: String
    ) async throws {
        var wire = ready(.vuDRMJW4)
        wire.key = KeyURI(key)
        #expect(try wire.contentIdentifier() == identifier)
        let certificate = """
            GET https://fairplay-license.vudrm.tech/certificate/demo-client
            cache-control: max-age=0
            x-vudrm-token: \(TokenSample.vuDRM)
            """
        #expect(try await wire.certificateRequest() == certificate)
        let expected = """
            POST \(license)
            content-type: application/octet-stream
            x-vudrm-token: \(TokenSample.vuDRM)

            fbff0001
            """
        #expect(try await wire.licenseRequest() == expected)
    }

    @Test(arguments: [200, 201, 206, 299]) func `JW Player 4's page takes any status of success`(status: Int) throws {
        #expect(try ready(.vuDRMJW4).license(ProfileWire.ckc, status: status).ckc.revealed == ProfileWire.ckc)
        #expect(ready(.vuDRMJW4).refusal("", status: 300) != nil)
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
        let wire = ProfileWire(.vuDRM, key: "skd://fairplay-license.vudrm.tech/")
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test(arguments: [VendorProfile.vuDRM, .vuDRMTheo, .vuDRMRaw])
    func `the reply is the CKC, and the certificate is DER`(profile: VendorProfile) throws {
        #expect(try ready(profile).license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
        #expect(try ready(profile).certificate(ProfileWire.certificate) == ProfileWire.certificate)
    }

    /// Source: `Documentation/Vendors/VuDRM.md`.
    @Test(arguments: [
        ("skd://h.example/demo-content_01?sub=1", "demo-content_01", "demo-content_01?sub=1"),
        ("skd://h.example/demo?x=a/b", "demo", "b"), ("skd://h.example/my%20movie", "my movie", "my%20movie"),
    ])
    func `the document reads a URL's last component, the other clients the text behind the last slash`(
        key: KeyURI, document: String, others: String
    ) async throws {
        #expect(try await ProfileWire(.vuDRM, key: key).licenseRequest().contains(#""contentId":"\#(document)""#))
        for profile in [VendorProfile.vuDRMTheo, .vuDRMRaw] {
            #expect(try ProfileWire(profile, key: key).contentIdentifier() == others)
        }
        #expect(try await ProfileWire(.vuDRMTheo, key: key).licenseRequest().contains(#""contentId":"\#(others)""#))
    }

    /// Source: `Documentation/Migration/JWPlayerVuDRM.md`.
    @Test func `a lease that the app knows gives the time of a renewal`() throws {
        let wire = ProfileWire(.vuDRM, key: Self.key, ["leaseDuration": "600"])
        #expect(try wire.license(ProfileWire.ckc).terms == LicenseTerms(.lease(.seconds(600))))
        #expect(try ready(.vuDRM).license(ProfileWire.ckc).terms == nil)
    }

    /// Source: `Documentation/Vendors/README.md` §23.7, `Documentation/Migration/JWPlayerVuDRM.md`.
    @Test(arguments: [
        (#"{"error":"content id not in policy"}"#, "content id not in policy"),
        (#"{"error":"Forbidden","message":"content id not in policy"}"#, "Forbidden: content id not in policy"),
        (#"{"error":"Forbidden","message":"Forbidden"}"#, "Forbidden"),
        (#"{"message":"token\u0007 expired"}"#, "token expired"), ("Token expired", "Token expired"),
    ])
    func `a refusal carries the vendor's words`(body: String, words: String) {
        let error = ready(.vuDRM).refusal(body, status: 403, [("X-Request-ID", "r-17")])
        #expect(error?.service == ServiceReply(status: 403, message: words, requestID: "r-17"))
        #expect(error?.reason == "The service answered 403, \"\(words)\" (request r-17).")
    }

    /// Source: `Documentation/Vendors/VuDRM.md`, V3.
    @Test func `the id of the vendor's SDK is a request's id too`() {
        let error = ready(.vuDRM).refusal("", status: 403, [("Vualto-Transaction-ID", "t-9")])
        #expect(error?.service?.requestID == "t-9")
    }

    /// Source: `Documentation/Migration/JWPlayerVuDRM.md`.
    @Test(arguments: [201, 202, 206])
    func `a good CKC with another status is refused for its status`(status: Int) {
        let error = ready(.vuDRM).refusal(ProfileWire.ckc, status: status)
        #expect(error?.kind == .licenseMalformed)
        #expect(error?.reason == "The reply holds a CKC, but its status is \(status) and not 200.")
        #expect(error?.remedy.contains("status") == false && error?.remedy.contains("answer 200") == true)
    }

    @Test func `a refusal carries the request id`() {
        let error = ready(.vuDRM).refusal("", status: 403, [("X-Request-ID", "r-17")])
        #expect(error?.kind == .forbidden)
        #expect(error?.service == ServiceReply(status: 403, requestID: "r-17"))
        #expect(error?.reason == "The service answered 403 (request r-17).")
    }

    @Test func `the shorthand sets the certificate's address`() async throws {
        let url = try #require(URL(string: "https://fairplay-license.vudrm.tech/certificate/x"))
        let wire = ProfileWire(ConfiguredVendor.vuDRM(certificate: url).profile)
        #expect(try await wire.certificateRequest()?.hasPrefix("GET \(url)\n") == true)
    }
}
