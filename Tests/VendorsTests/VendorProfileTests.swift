import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite struct VendorProfileTests {
    private func ready(_ profile: VendorProfile) -> VendorProfile {
        profile.with(["certificateURL": "https://h.example/c", "brandGuid": "b"])
    }

    @Test(arguments: VendorProfile.all)
    func `each required setting of the certificate request is demanded by name`(profile: VendorProfile) async throws {
        #expect(profile.missingSettings.contains("certificateURL"))
        let error = await #expect(throws: IntegrationError.self) { try await profile.certificateWire() }
        #expect(error?.kind == .missingSetting)
        #expect(error?.remedy.contains("\"certificateURL\"") == true)
    }

    @Test(arguments: VendorProfile.all, [nil, ""])
    func `a missing or empty token is refused`(profile: VendorProfile, token: String?) async throws {
        let profile = ready(profile)
        let credentials = token.map { CredentialSet.token($0) } ?? .none
        let context = LicenseContext(keyURI: "skd://h.example/a?KID=1", contentIdentifier: "id") { credentials }
        let error = await #expect(throws: IntegrationError.self) {
            try await profile.licenseRequest(for: SPCMessage(SampleBytes.spc), context)
        }
        #expect(error?.kind == .missingCredential)
    }

    @Test func `a request that carries no credential does not ask for one`() async throws {
        struct Asked: Error {}
        let context = CertificateContext { throw Asked() }
        #expect(try await ready(.vuDRMRaw).certificateRequest(context) != nil)
        #expect(try await ready(.cloudDRMLegacy).certificateRequest(context) != nil)
        await #expect(throws: Asked.self) { try await ready(.vuDRM).certificateRequest(context) }
    }

    @Test func `a token with a line break is refused, not cut and not sent`() async throws {
        let error = await #expect(throws: IntegrationError.self) {
            try await ready(.vuDRMRaw).licenseWire("skd://h/a", token: "secret-part\r\nX-Evil: 1")
        }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.description.contains("secret-part") == false)
    }

    @Test func `a certificate may be a setting in base64`() throws {
        var profile = VendorProfile.vuDRM
        profile.certificate = .inline(setting: "certificate")
        #expect(throws: IntegrationError.self) { try profile.bundledCertificate() }
        profile.settings["certificate"] = SampleBytes.certificate.base64EncodedString()
        #expect(try profile.bundledCertificate()?.der == SampleBytes.certificate)
    }

    @Test func `side values are taken from the paths that the profile names`() throws {
        var profile = VendorProfile.cloudDRM
        profile.sideValues = ["session": "a.0.token", "absent": "b"]
        let body = #"{"ckc":"\#(SampleBytes.ckc().base64EncodedString())","a":[{"token":"t-1"}]}"#
        #expect(try profile.license(Data(body.utf8)).sideValues == ["session": Secret("t-1")])
    }

    @Test func `a malformed reply names status and request id`() throws {
        let error = #expect(throws: IntegrationError.self) {
            try VendorProfile.vuDRM.license(Data("<html>".utf8), [("x-request-id", "r-1")])
        }
        #expect(error?.kind == .licenseMalformed)
        #expect(error?.service == ServiceReply(status: 200, requestID: "r-1"))
        #expect(error?.isRetryable == true)
    }

    @Test func `configured origins are those of the settings and the vendor's own hosts`() {
        let urls = ready(.vuDRM).setting("other", to: "no url").configuredURLs.map(\.absoluteString)
        #expect(
            urls.sorted() == [
                "https://fairplay-license.drm.technology", "https://fairplay-license.vudrm.tech", "https://h.example/c",
            ])
        #expect(VendorProfile.cloudDRM.configuredURLs.isEmpty)
    }

    @Test func `every profile has a name of its own and is found by it`() {
        let names = ["vudrm", "vudrm-theo", "vudrm-raw", "cloud-drm", "cloud-drm-legacy"]
        #expect(VendorProfile.all.map(\.identifier) == names)
        #expect(names.compactMap(VendorProfile.named).map(\.identifier) == names)
        #expect(VendorProfile.named("none") == nil)
    }

    @Test func `an integration of the app's own works with the defaults alone`() async throws {
        struct Plain: DRMIntegration { let identifier = "plain" }
        let context = LicenseContext(keyURI: "skd://h.example/a", contentIdentifier: "id")
        let request = try await Plain().licenseRequest(for: SPCMessage(SampleBytes.spc), context)
        #expect(
            request.wire == "POST https://h.example/a\ncontent-type: application/octet-stream\n\n00010203fbfffeff")
        #expect(try Plain().contentIdentifier(for: "skd://h.example/a").text == "skd://h.example/a")
        #expect(try await Plain().certificateRequest(CertificateContext()) == nil)
        let reply = HTTPReply(status: 200, body: Data("<ckc>\(SampleBytes.ckc().base64EncodedString())</ckc>".utf8))
        let license = try Plain().license(from: HTTPExchange(request: request, reply: reply), context)
        #expect(license.ckc.revealed == SampleBytes.ckc())
    }
}
