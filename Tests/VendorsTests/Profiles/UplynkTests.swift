import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/Uplynk.md`.
@Suite(.timeLimit(.minutes(5))) struct UplynkTests {
    static let key: KeyURI = "skd://ksm.example/fps/v1?b=beam%2F1&x=2&ray=3"

    @Test(arguments: [
        (VendorProfile.uplynk, "GET https://c.example/fps.cer"),
        (.uplynkWeb, "GET https://c.example/fps.cer\ncache-control: max-age=0"),
    ])
    func `the certificate is asked for without a token`(profile: VendorProfile, expected: String) async throws {
        let wire = ProfileWire(profile, key: Self.key, token: nil)
        #expect(try await wire.certificateRequest() == expected)
        #expect(try wire.certificate(ProfileWire.certificate) == ProfileWire.certificate)
    }

    @Test(arguments: [
        (VendorProfile.uplynk, #"{"spc":"+/8AAQ=="}"#), (.uplynkWeb, #"{"assetId":"beam%2F1","spc":"+/8AAQ=="}"#),
    ])
    func `the license goes to the key URI, unchanged but for its scheme`(
        profile: VendorProfile, body: String
    ) async throws {
        let expected = """
            POST https://ksm.example/fps/v1?b=beam%2F1&x=2&ray=3
            content-type: application/json

            \(body)
            """
        #expect(try await ProfileWire(profile, key: Self.key, token: nil).licenseRequest() == expected)
    }

    @Test(arguments: [
        (VendorProfile.uplynk, "skd://h/p?b=beam%2F1", "beam/1"), (.uplynk, "skd://h/p?x=1&B=2", "2"),
        (.uplynk, "skd://h/p?cid=first&ray=3", "first"), (.uplynk, "skd://h/p?b=50%", "50%"),
        (.uplynkWeb, "skd://h/p?b=beam%2F1", "beam%2F1"), (.uplynkWeb, "skd://h/p?b=AAA=rest", "AAA"),
    ])
    func `the beam's id names the key`(profile: VendorProfile, key: KeyURI, expected: String) throws {
        #expect(try ProfileWire(profile, key: key).contentIdentifier() == expected)
    }

    @Test func `a key URI without a query is refused before anything is sent`() {
        let error = #expect(throws: IntegrationError.self) {
            try ProfileWire(.uplynk, key: "skd://ksm.example/fps").contentIdentifier()
        }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test func `the CKC is in the JSON reply`() throws {
        let license = try ProfileWire(.uplynk, key: Self.key).license(#"{"ckc":"\#(ProfileWire.ckcText)"}"#)
        #expect(license.ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (#"{"status":1}"#, 200, Diagnosis.Kind.licenseMalformed), ("", 200, .licenseMalformed),
        (#"{"msg":"no"}"#, 403, .forbidden), ("busy", 503, .serverTransient),
    ])
    func `a reply without a CKC is an error`(body: String, status: Int, kind: Diagnosis.Kind) {
        #expect(ProfileWire(.uplynk, key: Self.key).refusal(body, status: status)?.kind == kind)
    }
}
