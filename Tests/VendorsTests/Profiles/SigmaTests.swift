import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of docs.sigmadrm.com/multi-safari.html and of the vendor's SDK.
@Suite(.timeLimit(.minutes(5))) struct SigmaTests {
    private static let key: KeyURI = "skd://license.sigmadrm.com/license/verify/fairplay?assetId=sigma%5Fvtv1&keyId=k-1"

    private func wire(_ profile: VendorProfile, key: KeyURI = key, _ settings: [String: String] = [:]) -> ProfileWire {
        let customer = ["merchantId": "MERCHANT_ID", "appId": "APP_ID", "userId": "USER_ID"]
        var wire = ProfileWire(profile, key: key, token: "SESSION_ID")
        wire.profile = wire.profile.setting("certificateURL", to: nil).setting("licenseURL", to: nil)
            .with(customer).with(settings)
        return wire
    }

    /// `{"appId":"APP_ID","merchantId":"MERCHANT_ID","sessionId":"SESSION_ID","userId":"USER_ID"}`.
    private let customData =
        "eyJhcHBJZCI6IkFQUF9JRCIsIm1lcmNoYW50SWQiOiJNRVJDSEFOVF9JRCIsInNlc3Npb25JZCI6IlNFU1NJT05fSUQiLCJ1c2VySWQiOiJVU0VSX0lEIn0="

    @Test func `the certificate is the app's`() async throws {
        #expect(
            try await wire(.sigma).certificateRequest()
                == "GET https://cert.sigmadrm.com/app/fairplay/MERCHANT_ID/APP_ID")
    }

    @Test func `the page's client sends JSON to the key URI, and names the key by the asset`() async throws {
        let expected = """
            POST https://license.sigmadrm.com/license/verify/fairplay?assetId=sigma%5Fvtv1&keyId=k-1
            content-type: application/json
            custom-data: \(customData)

            {"assetId":"sigma_vtv1","spc":"+/8AAQ=="}
            """
        #expect(try wire(.sigma).contentIdentifier() == "sigma_vtv1")
        #expect(try await wire(.sigma).licenseRequest() == expected)
    }

    @Test func `the SDK sends a form`() async throws {
        let sent = try await wire(.sigmaForm).licenseRequest()
        #expect(sent.hasSuffix("\n\nspc=%2B%2F8AAQ%3D%3D&assetId=sigma_vtv1&keyId=k-1"))
        #expect(sent.contains("custom-data: \(customData)\n"))
    }

    @Test func `a configured address gets asset and key of the key URI`() async throws {
        let sent = try await wire(
            .sigma, ["licenseURL": "https://license-staging.sigmadrm.com/license/verify/fairplay"]
        )
        .licenseRequest()
        let url = "https://license-staging.sigmadrm.com/license/verify/fairplay?assetId=sigma%5Fvtv1&keyId=k-1"
        #expect(sent.hasPrefix("POST \(url)\n"))
    }

    @Test func `the reply holds the CKC, plain or tagged, and the lease`() throws {
        let body = #"{"license":"<ckc>\#(ProfileWire.ckcText)</ckc>","expireTime":600}"#
        let license = try wire(.sigma).license(body)
        #expect(license.ckc.revealed == ProfileWire.ckc)
        #expect(license.terms?.lease == .seconds(600))
        let plain = try wire(.sigma).license(#"{"license":"\#(ProfileWire.ckcText)"}"#)
        #expect(plain.terms == nil)
    }

    @Test func `who asks is not shown`() { #expect(wire(.sigma).profile.redaction.isSecret(header: "custom-data")) }

    @Test func `a key URI without an asset is an error that says so`() throws {
        let error = #expect(throws: IntegrationError.self) { try wire(.sigma, key: "skd://x/y").contentIdentifier() }
        #expect(error?.kind == .contentIdentifierMissing)
    }
}
