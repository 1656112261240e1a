import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/Axinom.md`.
@Suite(.timeLimit(.minutes(5))) struct AxinomTests {
    static let key: KeyURI = "skd://0a1b2c3d-0000-0000-0000-000000000000:00112233445566778899aabbccddeeff"

    @Test(arguments: [VendorProfile.axinom, .axinomQuery])
    func `the certificate is asked for without a token`(profile: VendorProfile) async throws {
        #expect(try await ProfileWire(profile, key: Self.key).certificateRequest() == "GET https://c.example/fps.cer")
    }

    @Test func `the message travels in a header`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/octet-stream
            x-axdrm-message: TOKEN

            fbff0001
            """
        let wire = ProfileWire(.axinom, key: Self.key)
        #expect(try await wire.licenseRequest() == expected)
        #expect(try await wire.licenseRequest(.renewal) == expected)
        #expect(wire.profile.redaction.isSecret(header: "x-axdrm-message"))
    }

    @Test func `or in the query`() async throws {
        let expected = """
            POST https://l.example/fps?X-AxDRM-Message=TOKEN
            content-type: application/octet-stream

            fbff0001
            """
        let wire = ProfileWire(.axinomQuery, key: Self.key)
        #expect(try await wire.licenseRequest() == expected)
        #expect(wire.profile.redaction.isSecret(queryItem: "X-AxDRM-Message"))
    }

    @Test func `key id and IV name the key, as they stand`() throws {
        #expect(try ProfileWire(.axinom, key: Self.key).contentIdentifier() == String(Self.key.raw.dropFirst(6)))
    }

    @Test func `the reply is the CKC`() throws {
        let headers = [(name: "X-AxDRM-Version", value: "1")]
        let license = try ProfileWire(.axinom, key: Self.key).license(ProfileWire.ckc, headers)
        #expect(license.ckc.revealed == ProfileWire.ckc)
    }

    @Test func `a refusal's words stand in a header, over an empty body`() {
        let error = ProfileWire(.axinom, key: Self.key).refusal(
            "", status: 400, [("X-AxDRM-ErrorMessage", "The token's signature is not valid.")])
        #expect(error?.kind == .invalidRequest)
        #expect(error?.service == ServiceReply(status: 400, message: "The token's signature is not valid."))
    }
}
