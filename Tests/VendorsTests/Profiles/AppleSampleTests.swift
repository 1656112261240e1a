import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct AppleSampleTests {
    private let sample: ProfileOnPaper

    init() throws {
        sample = try ProfileOnPaper(.appleSample, ["certificateURL": "https://h/cert", "licenseURL": "https://h/ksm"])
    }

    @Test(arguments: [
        ("skd://Asset_1=;/path?q", "Asset_1=;"), ("skd://id:0123", "id:0123"), ("skd://a b{c}#d", "a b{c}"),
        ("skd://a%20b", "a%20b"),
    ])
    func `the host names the key, as it is written`(uri: String, identifier: String) throws {
        #expect(try sample.identifier(.init(uri)) == identifier)
    }

    @Test func `the form has SPC and asset id, both escaped`() async throws {
        #expect(try await sample.certificateRequest() == .get("https://h/cert"))
        #expect(
            try await sample.licenseRequest("skd://Asset_1=;/path")
                == .post(
                    "https://h/ksm", ["Content-Type": "application/x-www-form-urlencoded"],
                    "spc=%2B%2B%2F%2FAA%3D%3D&assetId=Asset_1%3D%3B"))
    }

    @Test func `a license is base64 text, inside tags or not`() throws {
        let base64 = ProfileOnPaper.ckc.base64EncodedString()
        for body in [base64, "\n<ckc>\(base64)</ckc>\n", "<ckc>\n\(base64)\n</ckc>"] {
            #expect(try sample.license(200, body).ckc.revealed == ProfileOnPaper.ckc)
        }
    }

    @Test(arguments: ["", "<ckc></ckc>", "<html>no</html>", "not base64 at all"])
    func `anything else is an error`(body: String) throws {
        let error = try #require(throws: IntegrationError.self) { try sample.license(200, body) }
        #expect(error.kind == .licenseMalformed)
    }
}
