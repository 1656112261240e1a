import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The bytes of `Documentation/Vendors/Naver.md`.
@Suite(.timeLimit(.minutes(5))) struct NaverTests {
    private let naver = VendorProfile.naver.with(["accessKey": "KEY"])
    private let credentials = CredentialSet([
        "token": Secret("dG9rZW4="), "timestamp": Secret("1795000000000"), "certificateSignature": Secret("Q0VSVA=="),
        "licenseSignature": Secret("TElDRU5TRQ=="),
    ])

    private func license(_ profile: VendorProfile, _ credentials: CredentialSet) async throws -> String {
        let context = LicenseContext(keyURI: "skd://movie-1", contentIdentifier: "movie-1") { credentials }
        return try await profile.unchecked.licenseRequest(for: SPCMessage(Data([0xfb, 0xff, 0, 1])), context).sent
    }

    @Test func `both requests carry the token and the gateway's fields, each its own signature`() async throws {
        let context = CertificateContext { [credentials] in credentials }
        let certificate = try await naver.unchecked.certificateRequest(context)?.sent
        let expected = """
            GET https://multi-drm.apigw.ntruss.com/api/v1/license/fairPlay
            x-drm-token: dG9rZW4=
            x-ncp-apigw-signature-v2: Q0VSVA==
            x-ncp-apigw-timestamp: 1795000000000
            x-ncp-iam-access-key: KEY
            x-ncp-region_code: KR
            """
        #expect(certificate == expected)
        let asked = """
            POST https://multi-drm.apigw.ntruss.com/api/v1/license
            content-type: application/x-www-form-urlencoded
            x-drm-token: dG9rZW4=
            x-ncp-apigw-signature-v2: TElDRU5TRQ==
            x-ncp-apigw-timestamp: 1795000000000
            x-ncp-iam-access-key: KEY
            x-ncp-region_code: KR

            spc=%2B%2F8AAQ%3D%3D
            """
        #expect(try await license(naver, credentials) == asked)
        #expect(try naver.contentIdentifier(for: "skd://movie-1") == "movie-1")
    }

    @Test func `behind a proxy that signs, the token goes alone`() async throws {
        let request = try await license(.naver, .token("dG9rZW4="))
        #expect(!request.contains("signature") && !request.contains("timestamp") && request.contains("x-drm-token"))
        for name in ["X-DRM-TOKEN", "x-ncp-apigw-signature-v2", "x-ncp-apigw-timestamp"] {
            #expect(VendorProfile.naver.redaction.isSecret(header: name), "\(name)")
        }
    }

    @Test(arguments: [ProfileWire.ckc, Data(ProfileWire.ckcText.utf8), Data("<ckc>\(ProfileWire.ckcText)</ckc>".utf8)])
    func `the CKC comes raw, in base64 or between tags`(body: Data) throws {
        #expect(try ProfileWire(.naver).license(body).ckc.revealed == ProfileWire.ckc)
        #expect(ProfileWire(.naver).refusal("")?.kind == .licenseMalformed)
    }

    @Test func `the certificate comes in DER or base64`() throws {
        #expect(try ProfileWire(.naver).certificate(ProfileWire.certificate) == ProfileWire.certificate)
        let text = Data(ProfileWire.certificateText.utf8)
        #expect(try ProfileWire(.naver).certificate(text) == ProfileWire.certificate)
    }

    @Test func `a number of the gateway's is no status`() {
        let quota = ProfileWire(.naver).refusal(
            #"{"error":{"errorCode":"400","message":"Quota Exceeded"}}"#, status: 429)
        #expect(quota?.kind == .rateLimited && quota?.isRetryable == true)
        #expect(ProfileWire(.naver).refusal("no", status: 400)?.kind == .invalidRequest)
    }
}
