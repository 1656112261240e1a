import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct GenericTests {
    private static let settings = ["certificateURL": "https://h/cert", "licenseURL": "https://h/license"]
    private static let all: [VendorProfile] = [.genericRaw, .genericBase64, .genericForm, .genericJSON]

    @Test(arguments: [
        (VendorProfile.genericRaw, "application/octet-stream", ProfileOnPaper.spc),
        (.genericBase64, "text/plain", Data("++//AA==".utf8)),
        (.genericForm, "application/x-www-form-urlencoded", Data("spc=%2B%2B%2F%2FAA%3D%3D&assetId=key%201".utf8)),
        (.genericJSON, "application/json", Data(#"{"spc":"++//AA=="}"#.utf8)),
    ])
    func `each sends the SPC in its own form`(profile: VendorProfile, contentType: String, body: Data) async throws {
        let paper = try ProfileOnPaper(profile, Self.settings)
        #expect(
            try await paper.licenseRequest("skd://key 1/x")
                == .post("https://h/license", ["Content-Type": contentType], body))
    }

    @Test(arguments: all)
    func `a token travels as a bearer token, and not with the certificate's request`(profile: VendorProfile)
        async throws
    {
        let paper = try ProfileOnPaper(profile, Self.settings, token: "t")
        #expect(try await paper.certificateRequest() == .get("https://h/cert"))
        #expect(try await paper.licenseRequest("skd://key").headers["authorization"] == "Bearer t")
    }

    @Test(arguments: all)
    func `without a configured address the license goes to the key URI`(profile: VendorProfile) async throws {
        let paper = try ProfileOnPaper(profile, ["certificateURL": "https://h/cert"])
        #expect(try await paper.licenseRequest("skd://h/license/1?a=b").url == "https://h/license/1?a=b")
    }

    @Test(arguments: all)
    func `the setting or the host names the key`(profile: VendorProfile) throws {
        #expect(try ProfileOnPaper(profile, [:]).identifier("skd://key/x?y") == "key")
        #expect(try ProfileOnPaper(profile, ["contentId": "mine"]).identifier("skd://key/x?y") == "mine")
    }

    @Test(arguments: all)
    func `a certificate comes in DER, PEM or base64`(profile: VendorProfile) throws {
        let paper = try ProfileOnPaper(profile, Self.settings)
        let pem = "-----BEGIN CERTIFICATE-----\nMIECBQA=\n-----END CERTIFICATE-----\n"
        for body in [ProfileOnPaper.certificate, Data("MIECBQA=".utf8), Data(pem.utf8)] {
            #expect(try paper.certificate(200, body) == ProfileOnPaper.certificate)
        }
    }

    @Test(arguments: [
        (VendorProfile.genericRaw, ProfileOnPaper.ckc),
        (.genericBase64, Data(ProfileOnPaper.ckc.base64EncodedString().utf8)),
        (.genericForm, Data("<ckc>\(ProfileOnPaper.ckc.base64EncodedString())</ckc>".utf8)),
        (.genericForm, Data(ProfileOnPaper.ckc.base64EncodedString().utf8)),
        (.genericJSON, Data(#"{"ckc":"\#(ProfileOnPaper.ckc.base64EncodedString())"}"#.utf8)),
    ])
    func `each reads the license in its own form`(profile: VendorProfile, body: Data) throws {
        #expect(try ProfileOnPaper(profile, Self.settings).license(200, body).ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test(arguments: [
        (VendorProfile.genericRaw, Data(ProfileOnPaper.ckc.base64EncodedString().utf8)),
        (.genericBase64, ProfileOnPaper.ckc), (.genericForm, ProfileOnPaper.ckc), (.genericJSON, ProfileOnPaper.ckc),
    ])
    func `none guesses`(profile: VendorProfile, body: Data) throws {
        let error = try #require(throws: IntegrationError.self) {
            try ProfileOnPaper(profile, Self.settings).license(200, body)
        }
        #expect(error.kind == .licenseMalformed)
    }
}
