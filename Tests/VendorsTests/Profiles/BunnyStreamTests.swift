import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of docs.bunny.net/stream/players/fairplay and of the page on embed view tokens.
@Suite(.timeLimit(.minutes(5))) struct BunnyStreamTests {
    private var bunny: ProfileWire {
        var wire = ProfileWire(
            .bunnyStream, key: "skd://key-1", token: nil, ["libraryId": "759", "videoId": "eb1c-4f77"])
        wire.profile = wire.profile.setting("certificateURL", to: nil).setting("licenseURL", to: nil)
        return wire
    }

    private func license(_ credentials: CredentialSet) async throws -> String {
        let profile = bunny.profile
        let context = LicenseContext(keyURI: "skd://key-1", contentIdentifier: "skd://key-1") { credentials }
        return try await profile.unchecked.licenseRequest(for: SPCMessage(Data([0xfb, 0xff, 0x00, 0x01])), context).sent
    }

    @Test func `library and video stand in the URLs, and the SPC in JSON`() async throws {
        #expect(try bunny.contentIdentifier() == "skd://key-1")
        #expect(try await bunny.certificateRequest() == "GET https://video.bunnycdn.com/FairPlay/759/certificate")
        let expected = """
            POST https://video.bunnycdn.com/FairPlay/759/license/?videoId=eb1c-4f77
            content-type: application/json

            {"spc":"+/8AAQ=="}
            """
        #expect(try await license(.none) == expected)
    }

    @Test func `a token and its end travel in both URLs, and show nowhere`() async throws {
        let credentials = CredentialSet(["token": Secret("5a5d"), "expires": Secret("1456761770")])
        let request = try await license(credentials)
        #expect(
            request.hasPrefix(
                "POST https://video.bunnycdn.com/FairPlay/759/license/?videoId=eb1c-4f77&token=5a5d&expires=1456761770\n"
            ))
        let certificate = try await bunny.profile.unchecked.certificateRequest(CertificateContext { credentials })
        #expect(
            certificate?.sent
                == "GET https://video.bunnycdn.com/FairPlay/759/certificate?token=5a5d&expires=1456761770")
        #expect(bunny.profile.redaction.isSecret(queryItem: "token"))
    }

    @Test func `the older license address is used unchanged`() async throws {
        var wire = bunny
        wire.profile = wire.profile.setting(
            "licenseURL", to: "https://video.bunnycdn.com/FairPlayLicense/759/eb1c?videoId=eb1c")
        #expect(
            try await wire.licenseRequest().hasPrefix(
                "POST https://video.bunnycdn.com/FairPlayLicense/759/eb1c?videoId=eb1c\n"))
    }

    @Test func `the CKC is in JSON`() throws {
        #expect(try bunny.license(#"{"ckc":"\#(ProfileWire.ckcText)"}"#).ckc.revealed == ProfileWire.ckc)
        #expect(bunny.refusal("{}")?.kind == .licenseMalformed)
    }

    @Test func `an expired token is known by its status`() {
        #expect(bunny.refusal("", status: 403)?.kind == .forbidden)
    }
}
