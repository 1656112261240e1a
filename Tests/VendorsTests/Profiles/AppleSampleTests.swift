import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct AppleSampleTests {
    private let sample = ProfileWire(.appleSample, key: "skd://Asset_1=;/path")

    @Test(arguments: [
        ("skd://Asset_1=;/path?q", "Asset_1=;"), ("skd://id:0123", "id:0123"), ("skd://a b{c}#d", "a b{c}"),
        ("skd://a%20b", "a%20b"),
    ])
    func `the host names the key, as it is written`(key: KeyURI, identifier: String) throws {
        #expect(try ProfileWire(.appleSample, key: key).contentIdentifier() == identifier)
    }

    @Test func `the form has SPC and asset id, both escaped`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/x-www-form-urlencoded

            spc=%2B%2F8AAQ%3D%3D&assetId=Asset_1%3D%3B
            """
        #expect(try await sample.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try await sample.licenseRequest() == expected)
    }

    @Test(arguments: [
        ProfileWire.ckcText, "\n<ckc>\(ProfileWire.ckcText)</ckc>\n", "<ckc>\n\(ProfileWire.ckcText)\n</ckc>",
    ])
    func `a license is base64 text, inside tags or not`(body: String) throws {
        #expect(try sample.license(body).ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: ["", "<ckc></ckc>", "<html>no</html>", "not base64 at all"])
    func `anything else is an error`(body: String) {
        #expect(sample.refusal(body)?.kind == .licenseMalformed)
    }
}
