import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConaxTests {
    private let conax = ProfileWire(.conax, key: "skd://YQ==", ["licenseURL": "https://h/license?a=b"])

    @Test(arguments: [
        ("skd://eyJpZCI6IjEifQ==", #"{"id":"1"}"#), ("skd://eyJpZCI6IjEifQ==?x=1", #"{"id":"1"}"#),
        ("skd://eyJpZCI6IjEifQ", #"{"id":"1"}"#), ("skd://Pz8/Pz8+", "?????>"),
    ])
    func `the base64 before the query names the key`(key: KeyURI, identifier: String) throws {
        #expect(try ProfileWire(.conax, key: key).contentIdentifier() == identifier)
    }

    @Test(arguments: ["skd://", "skd://?a", "skd://***"])
    func `a key URI without base64 is an error`(key: KeyURI) {
        let error = #expect(throws: IntegrationError.self) { try ProfileWire(.conax, key: key).contentIdentifier() }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test func `requests carry nothing but the SPC`() async throws {
        let expected = """
            POST https://h/license?a=b
            content-type: application/octet-stream

            fbff0001
            """
        #expect(try await conax.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try await conax.licenseRequest() == expected)
    }

    @Test func `a license comes in any usual form`() throws {
        let base64 = ProfileWire.ckcText
        #expect(try conax.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
        for body in [base64, "\n<ckc>\(base64)</ckc>\n", #"{"ckc":"\#(base64)"}"#] {
            #expect(try conax.license(body).ckc.revealed == ProfileWire.ckc)
        }
    }

    @Test func `a refusal is known by its status`() {
        #expect(conax.refusal("no", status: 403)?.kind == .forbidden)
    }
}
