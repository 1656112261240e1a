import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct AnvatoTests {
    private let anvato = ProfileWire(.anvato, key: "skd://Asset 1/2")

    @Test func `everything behind the scheme names the key, in SPC and request`() async throws {
        let expected = """
            POST https://l.example/fps
            content-type: application/json

            {"assetid":"Asset 1/2","spc":"+/8AAQ=="}
            """
        #expect(try anvato.contentIdentifier() == "Asset 1/2")
        #expect(try await anvato.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try await anvato.licenseRequest() == expected)
    }

    @Test func `a license is in JSON`() throws {
        let license = try anvato.license(#"{"ckc":"\#(ProfileWire.ckcText)"}"#)
        #expect(license.ckc.revealed == ProfileWire.ckc)
    }

    @Test(arguments: [
        (200, "403", Diagnosis.Kind.forbidden), (200, "401", .unauthenticated), (200, "404", .notFound),
        (200, "429", .rateLimited), (200, "503", .serverTransient), (200, "7", .forbidden),
        (500, "7", .serverTransient), (400, "403", .forbidden),
    ])
    func `a refusal has a code, whatever its status`(status: Int, code: String, kind: Diagnosis.Kind) {
        let body = #"{"error":{"code":\#(code),"status":"NO","message":"Sorry. drmErrorCode: 17 (test)"}}"#
        let error = anvato.refusal(body, status: status)
        #expect(error?.kind == kind)
        #expect(
            error?.service == ServiceReply(status: status, code: code, message: "Sorry. drmErrorCode: 17 (test)"))
    }
}
