import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct AnvatoTests {
    private let anvato: ProfileOnPaper

    init() throws {
        anvato = try ProfileOnPaper(.anvato, ["certificateURL": "https://h/cert", "licenseURL": "https://h/license"])
    }

    @Test func `everything behind the scheme names the key, in SPC and request`() async throws {
        #expect(try anvato.identifier("skd://Asset 1/2") == "Asset 1/2")
        #expect(try await anvato.certificateRequest() == .get("https://h/cert"))
        #expect(
            try await anvato.licenseRequest("skd://Asset 1/2")
                == .post(
                    "https://h/license", ["Content-Type": "application/json"],
                    #"{"assetid":"Asset 1/2","spc":"++//AA=="}"#))
    }

    @Test func `a license stands in JSON`() throws {
        let body = #"{"ckc":"\#(ProfileOnPaper.ckc.base64EncodedString())"}"#
        #expect(try anvato.license(200, body).ckc.revealed == ProfileOnPaper.ckc)
    }

    @Test(arguments: [
        (200, "403", IntegrationError.Kind.forbidden), (200, "401", .unauthenticated), (200, "404", .notFound),
        (200, "429", .rateLimited), (200, "503", .serverTransient), (200, "7", .forbidden),
        (500, "7", .serverTransient),
        (400, "403", .forbidden),
    ])
    func `a refusal has a code, whatever its status`(status: Int, code: String, kind: IntegrationError.Kind) throws {
        let body = #"{"error":{"code":\#(code),"status":"NO","message":"Sorry. drmErrorCode: 17 (test)"}}"#
        let error = try #require(throws: IntegrationError.self) { try anvato.license(status, body) }
        #expect(error.kind == kind)
        #expect(
            error.service == ServiceReply(status: status, code: code, message: "Sorry. drmErrorCode: 17 (test)"))
    }
}
