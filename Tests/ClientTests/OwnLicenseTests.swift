import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Integrations) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Returns the reply's body as the license, whatever it is, as the document's custom integration does.
private struct CarelessIntegration: VendorIntegration {
    let identifier = "careless"
    let licenseURL = URL(string: "https://l.example/license")

    func bundledCertificate() throws -> ApplicationCertificate? { try ApplicationCertificate(SampleBytes.certificate) }
    func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
        License(ckc: Secret(exchange.reply.body))
    }
}

/// The license of an integration in code is checked, as a profile's reply is: a device's error would not say what is wrong.
@Suite(.timeLimit(.minutes(1))) struct OwnLicenseTests {
    private func answer(_ step: FakeTransport.Step) async -> FakeKeyRequest.Answer {
        await Harness(CarelessIntegration(), post: [step]) { $0.retry = .never }.answer()
    }

    @Test(arguments: [
        (200, Data(), "gave nothing in place of a CKC.", "Give the bytes of the CKC"),
        (200, SampleBytes.ckc().base64EncodedData(), "gave base64 text of a CKC", "Undo the base64. Give"),
        (
            200, Data(#"{"ckc":"\#(SampleBytes.ckc().base64EncodedString())"}"#.utf8), "JSON",
            "Take the member “ckc”"
        ),
        (200, Data("<html><body>Sign in</body></html>".utf8), "an HTML page", "Give the bytes of the CKC"),
        (404, Data(#"{"error":"no such key"}"#.utf8), "The reply's status is 404.", "Give the bytes of the CKC"),
    ])
    func `a non-CKC is named, with its source and the status`(
        _ status: Int, _ body: Data, _ words: String, _ step: String
    ) async throws {
        let error = try #require(await answer(.reply(HTTPReply(status: status, body: body))).error)
        #expect(error.kind == .licenseMalformed && error.stage == .license && error.service?.status == status)
        #expect(error.reason.hasPrefix("The integration careless gave "), "\(error.reason)")
        #expect(error.reason.contains(words), "\(error.reason)")
        #expect(error.remedy.hasPrefix(step), "\(error.remedy)")
    }

    @Test(arguments: [SampleBytes.ckc(), Data([0, 0, 0, 2]) + Data(repeating: 7, count: 40)])
    func `a CKC reaches the player, even in a later version`(_ ckc: Data) async {
        #expect(await answer(.ok(ckc)).ckc == ckc)
    }
}
