import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct GumletTests {
    private let gumlet = ProfileWire(.gumlet, key: "skd://key-1?x", ["licenseURL": "https://h/license/demo?token=t"])

    @Test func `the SPC travels in the alphabet that is safe in URLs`() async throws {
        let expected = """
            POST https://h/license/demo?token=t
            content-type: application/json

            {"spc":"-_8AAQ=="}
            """
        #expect(try gumlet.contentIdentifier() == "key-1")
        #expect(try await gumlet.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try await gumlet.licenseRequest() == expected)
    }

    @Test func `a license comes in any usual form`() throws {
        let base64 = ProfileWire.ckcText
        #expect(try gumlet.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
        for body in [base64, "<ckc>\(base64)</ckc>", #"{"ckc":"\#(base64)"}"#, #"{"License":"\#(base64)"}"#] {
            #expect(try gumlet.license(body).ckc.revealed == ProfileWire.ckc)
        }
    }

    @Test(arguments: [(401, Diagnosis.Kind.unauthenticated), (500, .serverTransient)])
    func `a refusal is known by its status`(status: Int, kind: Diagnosis.Kind) {
        #expect(gumlet.refusal("{}", status: status)?.kind == kind)
    }
}
