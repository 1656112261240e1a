import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct VendorProfileTests {
    @Test func `a request without a credential does not ask for one`() async throws {
        struct Asked: Error {}
        func profile(_ profile: VendorProfile) -> VendorProfile { ProfileWire(profile, ["brandGuid": "b"]).profile }
        let context = CertificateContext { throw Asked() }
        #expect(try await profile(.vuDRMRaw).unchecked.certificateRequest(context) != nil)
        #expect(try await profile(.cloudDRMLegacy).unchecked.certificateRequest(context) != nil)
        await #expect(throws: Asked.self) { try await profile(.vuDRM).unchecked.certificateRequest(context) }
    }

    @Test func `a token with a line break is refused, neither cut nor sent`() async {
        let wire = ProfileWire(.vuDRMRaw, token: "secret-part\r\nX-Evil: 1")
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.description.contains("secret-part") == false)
    }

    @Test func `a certificate may be a setting in base64`() throws {
        var profile = VendorProfile.vuDRM
        profile.certificate = .inline(setting: "certificate")
        #expect(throws: IntegrationError.self) { try profile.unchecked.bundledCertificate() }
        profile.settings["certificate"] = SampleBytes.certificate.base64EncodedString()
        #expect(try profile.unchecked.bundledCertificate()?.bytes == SampleBytes.certificate)
    }

    @Test(arguments: [SampleBytes.certificate, Data(CertificateDecoderTests.pem.utf8)])
    func `an app's bundled certificate may be DER or PEM`(_ file: Data) throws {
        let vendor = ConfiguredVendor.expressPlay(certificate: file)
        #expect(try vendor.bundledCertificate()?.bytes == SampleBytes.certificate)
    }

    @Test(arguments: [
        (Data(), "nothing"), (Data("<html><body>404</body></html>".utf8), "HTML page"),
        (Data(#"{"cert":"none"}"#.utf8), "JSON"),
        (Data(CertificateDecoderTests.base64.utf8), "base64 text of a certificate"),
    ])
    func `an app's file that is not a certificate is named, and no address is blamed`(
        _ file: Data, _ words: String
    ) throws {
        let vendor = ConfiguredVendor.expressPlay(certificate: file)
        let error = try #require(throws: IntegrationError.self) { try vendor.bundledCertificate() }
        #expect(error.kind == .certificateMalformed)
        #expect(error.reason.hasPrefix("The setting \"certificate\" holds "), "\(error.reason)")
        #expect(error.reason.contains(words), "\(error.reason)")
        #expect(error.remedy.contains("its file is in the app") && !error.remedy.contains("URL"))
    }

    @Test func `side values come from the paths that the profile names`() throws {
        var profile = VendorProfile.cloudDRM
        profile.sideValues = ["session": "a.0.token", "absent": "b"]
        let body = #"{"ckc":"\#(ProfileWire.ckcText)","a":[{"token":"t-1"}]}"#
        #expect(try ProfileWire(profile).license(body).sideValues == ["session": Secret("t-1")])
    }

    @Test func `a malformed reply names status and request id`() {
        let error = ProfileWire(.vuDRM).refusal("<html>", [("x-request-id", "r-1")])
        #expect(error?.kind == .licenseMalformed)
        #expect(error?.service == ServiceReply(status: 200, requestID: "r-1"))
        #expect(error?.isRetryable == true)
    }

    @Test func `configured origins come from the settings and the vendor's hosts`() {
        let settings = ["certificateURL": "https://h.example/c", "other": "no url"]
        let urls = VendorProfile.vuDRM.with(settings).unchecked.configuredURLs.map(\.absoluteString)
        #expect(
            urls.sorted() == [
                "https://fairplay-license.drm.technology", "https://fairplay-license.vudrm.tech", "https://h.example/c",
            ])
        #expect(VendorProfile.cloudDRM.unchecked.configuredURLs.isEmpty)
    }

    @Test func `an app's own integration works with the defaults alone`() async throws {
        struct Plain: VendorIntegration { let identifier = "plain" }
        let context = LicenseContext(keyURI: "skd://h.example/a", contentIdentifier: "id")
        let request = try await Plain().licenseRequest(for: SPCMessage(SampleBytes.spc), context)
        #expect(
            request.sent == "POST https://h.example/a\ncontent-type: application/octet-stream\n\nfbff0001")
        #expect(try Plain().contentIdentifier(for: "skd://h.example/a").text == "skd://h.example/a")
        #expect(try await Plain().certificateRequest(CertificateContext()) == nil)
        let reply = HTTPReply(status: 200, body: Data("<ckc>\(SampleBytes.ckc().base64EncodedString())</ckc>".utf8))
        let license = try Plain().license(from: HTTPExchange(request: request, reply: reply), context)
        #expect(license.ckc.revealed == SampleBytes.ckc())
    }
}
