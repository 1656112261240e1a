import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The article's example works as described.
@Suite(.timeLimit(.minutes(5))) struct DocumentedProfileTests {
    private let wire: ProfileWire

    init() throws {
        wire = ProfileWire(
            try VendorProfile(json: DocumentedProfile.json()), key: "skd://movie-1",
            [
                "certificateURL": "https://keys.acme.example/fairplay.cer",
                "licenseURL": "https://keys.acme.example/license",
            ])
    }

    @Test func `the documented requests are sent`() async throws {
        #expect(try await wire.certificateRequest() == "GET https://keys.acme.example/fairplay.cer")
        #expect(
            try await wire.licenseRequest() == """
                POST https://keys.acme.example/license?asset=movie-1
                authorization: Bearer TOKEN
                content-type: application/json

                {"client":"web","spc":"+/8AAQ=="}
                """)
        #expect(try wire.contentIdentifier() == "movie-1")
    }

    @Test func `the documented answer gives CKC and lease`() throws {
        let license = try wire.license(#"{"ckc":"\#(ProfileWire.ckcText)","lease":300}"#)
        #expect(license.ckc == Secret(ProfileWire.ckc))
        #expect(license.terms == LicenseTerms(.lease(.seconds(300))))
    }

    @Test(arguments: [("E17", Diagnosis.Kind.unauthenticated), ("E20", .forbidden), ("E99", .invalidRequest)])
    func `the documented refusals are understood`(code: String, kind: Diagnosis.Kind) {
        let body = #"{"error":{"code":"\#(code)","text":"No."}}"#
        let error = wire.refusal(body, status: 400, [("X-Acme-Request", "r-1")])
        #expect(error?.kind == kind)
        #expect(error?.service == ServiceReply(status: 400, code: code, message: "No.", requestID: "r-1"))
    }

    @Test(arguments: [
        ("contentIdentifier", "{}"), ("decoder", "{}"), ("certificate", "{}"), ("certificate.fetched.decoder", "{}"),
        ("license.body", "{}"), ("license.url.changes[0]", "{}"), ("errors.code[0]", "{}"),
    ])
    func `every rule that a place takes is in the article`(place: String, value: String) throws {
        let problems = VendorProfile.problems(inJSON: try DocumentedProfile.json(with: value, at: place))
        let reason = try #require(problems.first { $0.field == place }?.reason)
        let names = try #require(reason.range(of: "exactly one of ").map { reason[$0.upperBound...].dropLast() })
        let article = try DocumentedProfile.article()
        for name in names.split(separator: ", ") { #expect(article.contains("\"\(name)\""), "\(name)") }
    }

    @Test(arguments: VendorProfile.all)
    func `every member of a profile is in the article`(profile: VendorProfile) throws {
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(profile)) as? [String: Any] ?? [:]
        let article = try DocumentedProfile.article()
        let nested = ["session", "lookup", "renewal", "errors", "redaction", "terms"].flatMap {
            (json[$0] as? [String: Any] ?? [:]).keys
        }
        for member in Array(json.keys) + nested { #expect(article.contains("`\(member)`"), "\(member)") }
    }
}
