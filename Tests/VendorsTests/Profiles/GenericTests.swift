import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct GenericTests {
    private static let all: [VendorProfile] = [.genericRaw, .genericBase64, .genericForm, .genericJSON]

    @Test(arguments: [
        (VendorProfile.genericRaw, "application/octet-stream", "fbff0001"),
        (.genericBase64, "text/plain", "+/8AAQ=="),
        (.genericForm, "application/x-www-form-urlencoded", "spc=%2B%2F8AAQ%3D%3D&assetId=key%201"),
        (.genericJSON, "application/json", #"{"spc":"+/8AAQ=="}"#),
    ])
    func `each sends the SPC in its own form`(profile: VendorProfile, contentType: String, body: String) async throws {
        let expected = "POST https://l.example/fps\ncontent-type: \(contentType)\n\n\(body)"
        #expect(try await ProfileWire(profile, key: "skd://key 1/x", token: nil).licenseRequest() == expected)
    }

    @Test(arguments: all)
    func `a token travels as a bearer token, and not with the certificate's request`(profile: VendorProfile)
        async throws
    {
        let wire = ProfileWire(profile)
        #expect(try await wire.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try await wire.licenseRequest().contains("\nauthorization: Bearer TOKEN\n"))
    }

    @Test(arguments: all)
    func `without a configured address the license goes to the key URI`(profile: VendorProfile) async throws {
        let wire = ProfileWire(profile, key: "skd://h/license/1?a=b", ["licenseURL": ""])
        #expect(try await wire.licenseRequest().hasPrefix("POST https://h/license/1?a=b\n"))
    }

    @Test(arguments: all)
    func `the setting or the host names the key`(profile: VendorProfile) throws {
        #expect(try ProfileWire(profile, key: "skd://key/x?y").contentIdentifier() == "key")
        #expect(try ProfileWire(profile, key: "skd://key/x?y", ["contentId": "mine"]).contentIdentifier() == "mine")
    }

    @Test(arguments: all)
    func `a certificate comes in DER, PEM or base64`(profile: VendorProfile) throws {
        let base64 = ProfileWire.certificateText
        let pem = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        for body in [ProfileWire.certificate, Data(base64.utf8), Data(pem.utf8)] {
            #expect(try ProfileWire(profile).certificate(body) == ProfileWire.certificate)
        }
    }

    @Test(arguments: [
        (VendorProfile.genericRaw, ProfileWire.ckc),
        (.genericBase64, Data(ProfileWire.ckcText.utf8)),
        (.genericForm, Data("<ckc>\(ProfileWire.ckcText)</ckc>".utf8)),
        (.genericForm, Data(ProfileWire.ckcText.utf8)),
        (.genericJSON, Data(#"{"ckc":"\#(ProfileWire.ckcText)"}"#.utf8)),
    ])
    func `each reads the license in its own form`(profile: VendorProfile, body: Data) throws {
        #expect(try ProfileWire(profile).license(body).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (VendorProfile.genericBase64, ProfileWire.ckc), (.genericForm, ProfileWire.ckc),
        (.genericJSON, ProfileWire.ckc),
    ])
    func `none of the others guesses`(profile: VendorProfile, body: Data) {
        #expect(ProfileWire(profile).refusal(body)?.kind == .licenseMalformed)
    }
}
