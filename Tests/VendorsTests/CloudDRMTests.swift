import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// The bytes of `vendors.md` §2.
@Suite struct CloudDRMTests {
    static let brand = "11111111-2222-3333-4444-555555555555"
    static let key: KeyURI =
        "skd://tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=aaaa&KID=66666666-7777-8888-9999-000000000000&IV=00ff"

    private func ready(_ profile: VendorProfile) -> VendorProfile {
        profile.with(["certificateURL": "https://tenant.la.drm.cloud/certificate/fairplay", "brandGuid": Self.brand])
    }

    @Test func `the present generation asks for the certificate with brand and token in the query`() async throws {
        let expected = """
            GET https://tenant.la.drm.cloud/certificate/fairplay?brandGuid=\(Self.brand)&usertoken=a.b%2Bc.d


            """
        #expect(try await ready(.cloudDRM).certificateWire(token: "a.b+c.d") == expected)
    }

    @Test func `older samples ask for the certificate with the brand alone`() async throws {
        let expected = "GET https://tenant.la.drm.cloud/certificate/fairplay?brandGuid=\(Self.brand)\n\n"
        #expect(try await ready(.cloudDRMLegacy).certificateWire() == expected)
    }

    @Test func `a brand that stands in the certificate's address stays`() async throws {
        let profile = ready(.cloudDRMLegacy)
            .setting("certificateURL", to: "https://tenant.la.drm.cloud/certificate/fairplay?BRANDGUID=own")
        #expect(
            try await profile.certificateWire()
                == "GET https://tenant.la.drm.cloud/certificate/fairplay?BRANDGUID=own\n\n")
    }

    @Test func `the present generation replaces the query by brand, KID and IV`() async throws {
        let expected = """
            POST https://tenant.la.drm.cloud/acquire-license/fairplay?brandGuid=\(Self.brand)\
            &KID=66666666-7777-8888-9999-000000000000&IV=00ff
            content-type: application/octet-stream
            x-drm-brandguid: \(Self.brand)
            x-drm-usertoken: a.b.c

            00010203fbfffeff
            """
        #expect(try await ready(.cloudDRM).licenseWire(Self.key, token: "a.b.c") == expected)
        let configured = ready(.cloudDRM)
            .setting("licenseURL", to: "https://tenant.la.drm.cloud/acquire-license/fairplay?old=1")
        #expect(try await configured.licenseWire(Self.key, token: "a.b.c") == expected)
    }

    @Test func `KID is found in any letter case, and IV may be missing`() async throws {
        let wire = try await ready(.cloudDRM).licenseWire("skd://tenant.la.drm.cloud/l?kid=AB%2Dcd")
        #expect(wire.hasPrefix("POST https://tenant.la.drm.cloud/l?brandGuid=\(Self.brand)&KID=AB%2Dcd\n"))
    }

    @Test func `older samples post to the key URI as it stands`() async throws {
        let expected = """
            POST https://tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=aaaa\
            &KID=66666666-7777-8888-9999-000000000000&IV=00ff
            content-type: application/octet-stream
            x-drm-brandguid: \(Self.brand)
            x-drm-usertoken: a.b.c

            00010203fbfffeff
            """
        #expect(try await ready(.cloudDRMLegacy).licenseWire(Self.key, token: "a.b.c") == expected)
    }

    @Test(arguments: [VendorProfile.cloudDRM, .cloudDRMLegacy])
    func `the SPC is made for the key URI without its scheme`(profile: VendorProfile) throws {
        #expect(
            try profile.contentIdentifier(for: Self.key).text
                == "tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=aaaa&KID=66666666-7777-8888-9999-000000000000&IV=00ff"
        )
    }

    @Test(arguments: [VendorProfile.cloudDRM, .cloudDRMLegacy])
    func `the CKC comes raw or as JSON`(profile: VendorProfile) throws {
        let json = Data(#" {"ckc":"\#(SampleBytes.ckc().base64EncodedString())"}"#.utf8)
        #expect(try profile.license(SampleBytes.ckc()).ckc.revealed == SampleBytes.ckc())
        #expect(try profile.license(json).ckc.revealed == SampleBytes.ckc())
    }

    @Test(arguments: [VendorProfile.cloudDRM, .cloudDRMLegacy])
    func `the certificate comes as DER, base64 or PEM`(profile: VendorProfile) throws {
        let base64 = SampleBytes.certificate.base64EncodedString(options: .lineLength64Characters)
        let pem = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        for body in [SampleBytes.certificate, Data(base64.utf8), Data(pem.utf8)] {
            #expect(try profile.certificate(body).der == SampleBytes.certificate)
        }
    }

    @Test func `the brand is demanded`() async throws {
        let profile = VendorProfile.cloudDRM.setting("certificateURL", to: "https://tenant.la.drm.cloud/c")
        let errors = [
            await #expect(throws: IntegrationError.self) { try await profile.certificateWire() },
            await #expect(throws: IntegrationError.self) { try await profile.licenseWire(Self.key) },
        ]
        #expect(errors.map { $0?.kind } == [.missingSetting, .missingSetting])
        #expect(errors.first??.reason == "Cloud DRM needs the setting \"brandGuid\".")
    }
}
