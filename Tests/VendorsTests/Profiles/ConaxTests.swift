import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct ConaxTests {
    private let conax: ProfileOnPaper

    init() throws {
        conax = try ProfileOnPaper(.conax, ["certificateURL": "https://h/cert", "licenseURL": "https://h/license?a=b"])
    }

    @Test(arguments: [
        ("skd://eyJpZCI6IjEifQ==", #"{"id":"1"}"#), ("skd://eyJpZCI6IjEifQ==?x=1", #"{"id":"1"}"#),
        ("skd://eyJpZCI6IjEifQ", #"{"id":"1"}"#), ("skd://Pz8/Pz8+", "?????>"),
    ])
    func `the base64 before the query names the key`(uri: String, identifier: String) throws {
        #expect(try conax.identifier(.init(uri)) == identifier)
    }

    @Test(arguments: ["skd://", "skd://?a", "skd://***"])
    func `a key URI without base64 is an error`(uri: String) throws {
        let error = try #require(throws: IntegrationError.self) { try conax.identifier(.init(uri)) }
        #expect(error.kind == .contentIdentifierMissing)
    }

    @Test func `requests carry nothing but the SPC`() async throws {
        #expect(try await conax.certificateRequest() == .get("https://h/cert"))
        #expect(
            try await conax.licenseRequest("skd://YQ==")
                == .post(
                    "https://h/license?a=b", ["Content-Type": "application/octet-stream"], ProfileOnPaper.spc))
    }

    @Test func `a license comes in any usual form`() throws {
        let base64 = ProfileOnPaper.ckc.base64EncodedString()
        #expect(try conax.license(200, ProfileOnPaper.ckc).ckc.revealed == ProfileOnPaper.ckc)
        for body in [base64, "\n<ckc>\(base64)</ckc>\n", #"{"ckc":"\#(base64)"}"#] {
            #expect(try conax.license(200, body).ckc.revealed == ProfileOnPaper.ckc)
        }
    }

    @Test func `a refusal is known by its status`() throws {
        let error = try #require(throws: IntegrationError.self) { try conax.license(403, "no") }
        #expect(error.kind == .forbidden)
    }
}
