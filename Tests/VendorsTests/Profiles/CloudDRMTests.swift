import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/CloudDRM.md`.
@Suite(.timeLimit(.minutes(5))) struct CloudDRMTests {
    static let brand = "11111111-2222-3333-4444-555555555555"
    static let key: KeyURI =
        "skd://tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=aaaa&KID=66666666-7777-8888-9999-000000000000&IV=00ff"

    private func ready(
        _ profile: VendorProfile, key: KeyURI = key, token: String = "a.b.c", _ settings: [String: String] = [:]
    ) -> ProfileWire {
        let usual = [
            "certificateURL": "https://tenant.la.drm.cloud/certificate/fairplay", "licenseURL": "",
            "brandGuid": Self.brand,
        ]
        return ProfileWire(profile, key: key, token: token, usual.merging(settings) { $1 })
    }

    /// Source: `Documentation/Vendors/CloudDRM.md`.
    @Test func `the certificate is asked for with the brand, and with the token only by the profile that says so`()
        async throws
    {
        let expected = "GET https://tenant.la.drm.cloud/certificate/fairplay?brandGuid=\(Self.brand)"
        #expect(try await ready(.cloudDRM, token: "a.b+c.d").certificateRequest() == expected)
        let asked = try await ready(.cloudDRMCertificateToken, token: "a.b+c.d").certificateRequest()
        #expect(asked == "\(expected)&usertoken=a.b%2Bc.d")
    }

    /// Source: `Documentation/Migration/AVPlayerCloudDRM.md`.
    @Test(arguments: ["", "?BRANDGUID=own", "?Expires=1&Signature=a%2Bb"])
    func `the document's generation asks for the certificate's unchanged address`(query: String) async throws {
        let url = "https://tenant.la.drm.cloud/certificate/fairplay\(query)"
        #expect(try await ready(.cloudDRMLegacy, ["certificateURL": url]).certificateRequest() == "GET \(url)")
    }

    @Test func `a brand in the certificate's address stays`() async throws {
        let url = "https://tenant.la.drm.cloud/certificate/fairplay?BRANDGUID=own"
        #expect(try await ready(.cloudDRM, ["certificateURL": url]).certificateRequest() == "GET \(url)")
    }

    /// Source: `Documentation/Migration/AVPlayerCloudDRM.md`.
    @Test func `the shorthands take a license address, and make the document's generation`() async throws {
        let certificate = try #require(URL(string: "https://c.example/cert?a=b"))
        let license = try #require(URL(string: "https://l.example/acquire"))
        let present = ConfiguredVendor.cloudDRM(certificate: certificate, brand: "b", license: license)
        #expect(present.profile.settings["licenseURL"] == "https://l.example/acquire")
        #expect(present.configuredURLs.contains(license) && present.profile.missingSettings.isEmpty)
        let legacy = ConfiguredVendor.cloudDRMLegacy(certificate: certificate, brand: "b")
        #expect(legacy.identifier == "cloud-drm-legacy" && legacy.profile.missingSettings.isEmpty)
        #expect(legacy.profile.settings == ["certificateURL": "https://c.example/cert?a=b", "brandGuid": "b"])
    }

    @Test func `the present generation replaces the query by brand, KID and IV`() async throws {
        let expected = """
            POST https://tenant.la.drm.cloud/acquire-license/fairplay?brandGuid=\(Self.brand)\
            &KID=66666666-7777-8888-9999-000000000000&IV=00ff
            content-type: application/octet-stream
            x-drm-brandguid: \(Self.brand)
            x-drm-usertoken: a.b.c

            fbff0001
            """
        #expect(try await ready(.cloudDRM).licenseRequest() == expected)
        let url = "https://tenant.la.drm.cloud/acquire-license/fairplay?old=1"
        #expect(try await ready(.cloudDRM, ["licenseURL": url]).licenseRequest() == expected)
    }

    @Test func `KID is found in any letter case, and IV may be missing`() async throws {
        let request = try await ready(.cloudDRM, key: "skd://tenant.la.drm.cloud/l?kid=AB%2Dcd").licenseRequest()
        #expect(request.hasPrefix("POST https://tenant.la.drm.cloud/l?brandGuid=\(Self.brand)&KID=AB%2Dcd\n"))
    }

    @Test func `older samples post to the unchanged key URI`() async throws {
        let expected = """
            POST https://tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=aaaa\
            &KID=66666666-7777-8888-9999-000000000000&IV=00ff
            content-type: application/octet-stream
            x-drm-brandguid: \(Self.brand)
            x-drm-usertoken: a.b.c

            fbff0001
            """
        #expect(try await ready(.cloudDRMLegacy).licenseRequest() == expected)
    }

    @Test(arguments: [VendorProfile.cloudDRM, .cloudDRMLegacy])
    func `the SPC is made for the key URI without its scheme`(profile: VendorProfile) throws {
        #expect(
            try ready(profile).contentIdentifier()
                == "tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=aaaa&KID=66666666-7777-8888-9999-000000000000&IV=00ff"
        )
    }

    @Test(arguments: [VendorProfile.cloudDRM, .cloudDRMLegacy])
    func `the CKC comes raw or as JSON`(profile: VendorProfile) throws {
        let json = #" {"ckc":"\#(ProfileWire.ckcText)"}"#
        #expect(try ready(profile).license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
        #expect(try ready(profile).license(json).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [VendorProfile.cloudDRM, .cloudDRMLegacy])
    func `the certificate comes as DER, base64 or PEM`(profile: VendorProfile) throws {
        let base64 = ProfileWire.certificate.base64EncodedString(options: .lineLength64Characters)
        let pem = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        for body in [ProfileWire.certificate, Data(base64.utf8), Data(pem.utf8)] {
            #expect(try ready(profile).certificate(body) == ProfileWire.certificate)
        }
    }

    /// Source: `Documentation/Vendors/CloudDRM.md`, errors.
    @Test func `a refusal says code, words and the request's id, and an ended token wants new credentials`() {
        let body = #"{"code":"drm_3031","status":403,"message":"Token is invalid or expired","requestId":"c42e-1"}"#
        let error = ready(.cloudDRM).refusal(body, status: 403)
        #expect(error?.kind == .unauthenticated)
        #expect(
            error?.reason
                == #"The service answered 403, code drm_3031, "Token is invalid or expired" (request c42e-1). "#
                + "The user token is invalid or has expired.")
        #expect(ready(.cloudDRM).refusal(#"{"code":"drm_3100"}"#, status: 403)?.kind == .serverTransient)
    }

    @Test func `the brand is demanded`() async throws {
        let wire = ProfileWire(.cloudDRM, key: Self.key)
        let errors = [
            await #expect(throws: IntegrationError.self) { try await wire.certificateRequest() },
            await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() },
        ]
        #expect(errors.map { $0?.kind } == [.missingSetting, .missingSetting])
        #expect(errors.first??.reason == "Cloud DRM needs the setting \"brandGuid\".")
    }
}
