import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/KeyOS.md`.
@Suite(.timeLimit(.minutes(5))) struct KeyOSTests {
    static let key: KeyURI = "skd://movie-1/part?kid=2"

    @Test(arguments: [
        (VendorProfile.keyOS, "x-keyos-authorization"), (.keyOSCustomData, "customdata"),
        (VendorProfile.keyOS.setting("header", to: "x-drm"), "x-drm"),
    ])
    func `certificate and license carry the token in a header`(profile: VendorProfile, header: String) async throws {
        let wire = ProfileWire(profile, key: "skd://movie-1")
        #expect(try await wire.certificateRequest() == "GET https://c.example/fps.cer\n\(header): TOKEN")
        let headers = ["content-type: application/x-www-form-urlencoded", "\(header): TOKEN"].sorted()
        let body = ["", "spc=%2B%2F8AAQ%3D%3D&assetId=movie-1"]
        #expect(
            try await wire.licenseRequest() == (["POST https://l.example/fps"] + headers + body).joined(separator: "\n")
        )
        #expect(profile.redaction.isSecret(header: header))
    }

    @Test(arguments: [
        (VendorProfile.keyOS, "skd://movie-1/part?kid=2", "movie-1/part?kid=2", "movie-1%2Fpart%3Fkid%3D2"),
        (.keyOSCustomData, "skd://movie-1", "movie-1", "movie-1"),
        (.keyOSHost, "skd://Movie-1/part?kid=2", "Movie-1", "Movie-1"),
        (.keyOSiOS, "skd://movie-1/part?kid=2", "kid=2", "kid%3D2"),
        (.keyOSiOS, "skd://movie-1", "skd://movie-1", "movie-1"),
    ])
    func `clients differ in what names the key`(
        profile: VendorProfile, key: KeyURI, identifier: String, assetID: String
    ) async throws {
        let wire = ProfileWire(profile, key: key)
        #expect(try wire.contentIdentifier() == identifier)
        #expect(try await wire.licenseRequest().hasSuffix("&assetId=\(assetID)"))
    }

    @Test(arguments: [200, 201])
    func `the reply is base64, with or without its tag`(status: Int) throws {
        let wire = ProfileWire(.keyOS, key: Self.key)
        #expect(try wire.license(ProfileWire.ckcText, status: status).ckc.revealed == ProfileWire.ckc)
        let tagged = "<ckc>\(ProfileWire.ckcText)</ckc>\n"
        #expect(try wire.license(tagged, status: status).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [(401, Diagnosis.Kind.unauthenticated), (403, .forbidden), (202, .licenseMalformed)])
    func `the status says what a refusal means`(status: Int, kind: Diagnosis.Kind) {
        #expect(ProfileWire(.keyOS, key: Self.key).refusal("no", status: status)?.kind == kind)
    }
}
