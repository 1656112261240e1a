import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// The bytes of `vendors.md` §2.
@Suite struct CloudDRMTests {
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

    @Test func `the present generation asks for the certificate with brand and token in the query`() async throws {
        let expected =
            "GET https://tenant.la.drm.cloud/certificate/fairplay?brandGuid=\(Self.brand)&usertoken=a.b%2Bc.d"
        #expect(try await ready(.cloudDRM, token: "a.b+c.d").certificateRequest() == expected)
    }

    @Test func `older samples ask for the certificate with the brand alone`() async throws {
        let expected = "GET https://tenant.la.drm.cloud/certificate/fairplay?brandGuid=\(Self.brand)"
        #expect(try await ready(.cloudDRMLegacy).certificateRequest() == expected)
    }

    @Test func `a brand that stands in the certificate's address stays`() async throws {
        let url = "https://tenant.la.drm.cloud/certificate/fairplay?BRANDGUID=own"
        #expect(try await ready(.cloudDRMLegacy, ["certificateURL": url]).certificateRequest() == "GET \(url)")
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

    @Test func `older samples post to the key URI as it stands`() async throws {
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
