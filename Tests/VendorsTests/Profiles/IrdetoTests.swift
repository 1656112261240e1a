import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct IrdetoTests {
    private static let base = "https://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER"
    private static let keyURI = KeyURI(
        "skd://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER/getckc"
            + "?contentId=demo%201&keyId=00000000-0000-0000-0000-000000000001")

    private let irdeto = ProfileWire(.irdeto, key: "skd://h/getckc?contentId=a&keyId=k", ["licenseURL": ""])

    @Test(arguments: [
        (VendorProfile.irdeto, "skd://h/getckc?contentId=a&keyId=b", "a"),
        (.irdeto, "skd://h/getckc?KeyId=b&ContentId=a", "a"),
        (.irdetoTheo, "skd://h/getckc?contentId=a&keyId=b", "skd://h/getckc?contentId=a&keyId=b"),
    ])
    func `the content id or the whole key URI names the key`(
        profile: VendorProfile, key: KeyURI, identifier: String
    ) throws {
        #expect(try ProfileWire(profile, key: key).contentIdentifier() == identifier)
    }

    @Test func `a configured content id replaces one that the key URI lacks`() throws {
        let key: KeyURI = "skd://h/getckc"
        #expect(try ProfileWire(.irdeto, key: key, ["contentId": "mine"]).contentIdentifier() == "mine")
        let error = #expect(throws: IntegrationError.self) { try ProfileWire(.irdeto, key: key).contentIdentifier() }
        #expect(error?.kind == .missingSetting)
    }

    @Test(arguments: [
        (["applicationId": "app"], "https://c.example/fps.cer?applicationId=app"), ([:], "https://c.example/fps.cer"),
        (
            ["certificateURL": "https://c?applicationid=theirs", "applicationId": "app"],
            "https://c?applicationid=theirs"
        ),
    ])
    func `the certificate is asked for by application`(settings: [String: String], url: String) async throws {
        #expect(try await ProfileWire(.irdeto, settings).certificateRequest() == "GET \(url)")
    }

    @Test(arguments: [
        // The key URI's own address, unchanged.
        (
            ["licenseURL": ""], keyURI,
            base + "/getckc?contentId=demo%201&keyId=00000000-0000-0000-0000-000000000001"
        ),
        // A configured address takes both from the key URI, under their usual names, not decoded.
        (
            ["licenseURL": "https://h/getckc"], "skd://x/?ContentId=a%2Bb&KEYID=k",
            "https://h/getckc?contentId=a%2Bb&keyId=k"
        ),
        // What the settings state goes before the key URI, and what the address has before both.
        (
            ["licenseURL": "https://h/getckc", "contentId": "mine", "keyId": "7"], "skd://x/?contentId=a&keyId=k",
            "https://h/getckc?contentId=mine&keyId=7"
        ),
        (
            ["licenseURL": "https://h/getckc?ContentId=fixed", "contentId": "mine"], "skd://x/?contentId=a&keyId=k",
            "https://h/getckc?ContentId=fixed&keyId=k"
        ),
    ])
    func `the license goes to the key URI or to a configured address`(
        settings: [String: String], key: KeyURI, url: String
    ) async throws {
        let expected = "POST \(url)\ncontent-type: application/octet-stream\n\nfbff0001"
        #expect(try await ProfileWire(.irdeto, key: key, token: nil, settings).licenseRequest() == expected)
    }

    @Test func `a token travels as a bearer token`() async throws {
        let expected = """
            POST https://h/getckc?contentId=a&keyId=k
            authorization: Bearer TOKEN
            content-type: application/octet-stream

            fbff0001
            """
        #expect(try await irdeto.licenseRequest() == expected)
    }

    @Test func `certificate and license come as they are`() throws {
        #expect(try irdeto.certificate(ProfileWire.certificate) == ProfileWire.certificate)
        #expect(try irdeto.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (401, Diagnosis.Kind.unauthenticated), (403, .forbidden), (404, .notFound), (400, .invalidRequest),
        (500, .serverTransient),
    ])
    func `the status says what a refusal means, and its words are kept`(status: Int, kind: Diagnosis.Kind) {
        let error = irdeto.refusal("whatever", status: status)
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: status, message: "whatever"))
    }
}
