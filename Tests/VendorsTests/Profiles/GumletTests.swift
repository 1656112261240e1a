import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct GumletTests {
    private let gumlet: ProfileOnPaper

    init() throws {
        gumlet = try ProfileOnPaper(
            .gumlet, ["certificateURL": "https://h/cert/demo", "licenseURL": "https://h/license/demo?token=t"])
    }

    @Test func `the SPC travels in the alphabet that is safe in URLs`() async throws {
        #expect(try gumlet.identifier("skd://key-1?x") == "key-1")
        #expect(try await gumlet.certificateRequest() == .get("https://h/cert/demo"))
        #expect(
            try await gumlet.licenseRequest("skd://key-1")
                == .post(
                    "https://h/license/demo?token=t", ["Content-Type": "application/json"], #"{"spc":"--__AA=="}"#))
    }

    @Test func `a license comes in any usual form`() throws {
        let base64 = ProfileOnPaper.ckc.base64EncodedString()
        #expect(try gumlet.license(200, ProfileOnPaper.ckc).ckc.revealed == ProfileOnPaper.ckc)
        for body in [base64, "<ckc>\(base64)</ckc>", #"{"ckc":"\#(base64)"}"#, #"{"License":"\#(base64)"}"#] {
            #expect(try gumlet.license(200, body).ckc.revealed == ProfileOnPaper.ckc)
        }
    }

    @Test(arguments: [(401, IntegrationError.Kind.unauthenticated), (500, .serverTransient)])
    func `a refusal is known by its status`(status: Int, kind: IntegrationError.Kind) throws {
        let error = try #require(throws: IntegrationError.self) { try gumlet.license(status, "{}") }
        #expect(error.kind == kind)
    }
}
