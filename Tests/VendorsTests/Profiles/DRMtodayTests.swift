import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/DRMtoday.md`.
@Suite(.timeLimit(.minutes(5))) struct DRMtodayTests {
    static let key: KeyURI = "skd://drmtoday?assetId=movie-1&variantId&keyId=00ff"
    static let address = ["licenseURL": "https://l.example/fps"]
    static let viewer = ["merchant": "m", "userId": "u", "sessionId": "s"]
    /// `{"merchant":"m","sessionId":"s","userId":"u"}`
    static let customData = "eyJtZXJjaGFudCI6Im0iLCJzZXNzaW9uSWQiOiJzIiwidXNlcklkIjoidSJ9"

    /// Source: `Documentation/Vendors/DRMtoday.md`; the vendor's demo asks at this address with the license's credential.
    @Test func `the vendor's own client asks for the certificate with its credential`() async throws {
        let address = "GET https://lic.drmtoday.com/license-server-fairplay/cert/"
        let token = ProfileWire(.drmToday, key: Self.key)
        #expect(try await token.certificateRequest() == "\(address)\nx-dt-auth-token: TOKEN")
        let data = ProfileWire(.drmTodayCustomData, key: Self.key, token: nil, Self.viewer)
        #expect(try await data.certificateRequest() == "\(address)\nx-dt-custom-data: \(Self.customData)")
    }

    /// Source: `Documentation/Vendors/DRMtoday.md`, the React Native client.
    @Test func `custom data and token travel together where the app gives both`() async throws {
        let wire = ProfileWire(.drmTodayCustomData, key: Self.key, Self.viewer)
        let both = "x-dt-auth-token: TOKEN\nx-dt-custom-data: \(Self.customData)"
        #expect(try await wire.licenseRequest().contains(both))
        #expect(try await wire.certificateRequest()?.hasSuffix(both) == true)
    }

    @Test func `the token travels in a header and the body is the SPC alone`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/x-www-form-urlencoded
            x-dt-auth-token: TOKEN

            spc=%2B%2F8AAQ%3D%3D
            """
        let wire = ProfileWire(.drmToday, key: Self.key, Self.viewer.merging(Self.address) { $1 })
        #expect(try await wire.licenseRequest() == expected)
    }

    @Test func `custom data takes the token's place`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/x-www-form-urlencoded
            x-dt-custom-data: \(Self.customData)

            spc=%2B%2F8AAQ%3D%3D
            """
        let wire = ProfileWire(
            .drmTodayCustomData, key: Self.key, token: nil, Self.viewer.merging(Self.address) { $1 })
        #expect(try await wire.licenseRequest() == expected)
        #expect(wire.profile.redaction.isSecret(header: "X-DT-Custom-Data"))
    }

    @Test func `a player that names the key otherwise repeats the key URI's query`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/x-www-form-urlencoded
            x-dt-custom-data: \(Self.customData)

            spc=%2B%2F8AAQ%3D%3D&assetId=movie-1&variantId&keyId=00ff
            """
        let wire = ProfileWire(.drmTodayQuery, key: Self.key, token: nil, Self.viewer.merging(Self.address) { $1 })
        #expect(try await wire.licenseRequest() == expected)
        #expect(try wire.contentIdentifier() == "assetId=movie-1&variantId&keyId=00ff")
    }

    @Test(arguments: [VendorProfile.drmToday, .drmTodayCustomData])
    func `the whole key URI names the key`(profile: VendorProfile) throws {
        #expect(try ProfileWire(profile, key: Self.key).contentIdentifier() == Self.key.raw)
    }

    @Test func `a key to store is asked for with offline`() async throws {
        let expected = """
            POST https://l.example/fps?offline=true
            content-type: application/x-www-form-urlencoded
            x-dt-auth-token: TOKEN

            spc=%2B%2F8AAQ%3D%3D&offline=true
            """
        #expect(try await ProfileWire(.drmToday, key: Self.key, Self.address).licenseRequest(.persistable) == expected)
    }

    @Test(arguments: ["merchant", "userId", "sessionId"])
    func `custom data with a gap is not sent`(name: String) async {
        let wire = ProfileWire(.drmTodayCustomData, key: Self.key, Self.viewer.filter { $0.key != name })
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .missingSetting)
    }

    @Test(arguments: [ProfileWire.ckcText, "<ckc>\(ProfileWire.ckcText)</ckc>"])
    func `the reply is base64, with or without its tag`(body: String) throws {
        #expect(try ProfileWire(.drmToday, key: Self.key).license(body).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (500, "1000", Diagnosis.Kind.serverTransient), (400, "2000", .invalidRequest),
        (403, "3000", .unauthenticated), (400, "10001", .invalidRequest), (400, "20101", .forbidden),
        (500, "30000", .invalidRequest), (500, "43000", .invalidRequest), (403, "60001", .invalidRequest),
        (403, "60100", .concurrencyLimit), (400, "70001", .forbidden), (400, "80001", .forbidden),
        (403, "90001", .regionDenied), (418, "99999", .invalidRequest),
    ])
    func `the response code says what a refusal means`(status: Int, code: String, kind: Diagnosis.Kind) {
        let error = ProfileWire(.drmToday, key: Self.key).refusal(
            "", status: status, [("X-DT-Resp-Code", code), ("x-dt-error-message", "not_granted")])
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: status, code: code, message: "not_granted"))
    }
}
