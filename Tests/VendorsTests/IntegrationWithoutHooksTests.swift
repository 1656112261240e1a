import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An integration that states no more than its source's addresses.
private struct PlainIntegration: VendorIntegration {
    let identifier = "plain"
    var certificateURL = URL(string: "https://c.example/fps.cer")
    var licenseURL = URL(string: "https://l.example/license?a=b%2Fc")
}

/// The defaults, like those of the THEOplayer document: certificate and license from the source's URLs, bodies unchanged.
///
/// Source: `Documentation/Migration/THEOplayerCustomIntegrations.md`.
@Suite(.timeLimit(.minutes(5))) struct IntegrationWithoutHooksTests {
    private let key: KeyURI = "skd://keys.example/a/b?c=d"

    private func context() throws -> LicenseContext {
        LicenseContext(keyURI: key, contentIdentifier: try PlainIntegration().contentIdentifier(for: key))
    }

    @Test func `the certificate comes from the source's address`() async throws {
        let request = try await PlainIntegration().certificateRequest(CertificateContext())
        #expect(request?.sent == "GET https://c.example/fps.cer")
        let reply = HTTPReply(status: 200, body: SampleBytes.certificate)
        let exchange = HTTPExchange(request: try #require(request), reply: reply)
        #expect(try PlainIntegration().certificate(from: exchange).bytes == SampleBytes.certificate)
    }

    @Test func `the SPC goes to the source's license address unchanged`() async throws {
        let request = try await PlainIntegration().licenseRequest(for: SPCMessage(SampleBytes.spc), context())
        #expect(
            request.sent == """
                POST https://l.example/license?a=b%2Fc
                content-type: application/octet-stream

                fbff0001
                """)
        let exchange = HTTPExchange(request: request, reply: HTTPReply(status: 200, body: SampleBytes.ckc()))
        #expect(try PlainIntegration().license(from: exchange, context()).ckc.revealed == SampleBytes.ckc())
    }

    @Test func `its hosts are known ahead and count as configured`() {
        let plain = PlainIntegration()
        #expect(plain.licenseURL(for: key, lookup: [:])?.host == "l.example")
        #expect(plain.configuredURLs.compactMap(\.host) == ["c.example", "l.example"])
        #expect(PlainIntegration(certificateURL: nil, licenseURL: nil).configuredURLs.isEmpty)
    }

    @Test func `without addresses the key URI names the service, and no certificate is requested`() async throws {
        let bare = PlainIntegration(certificateURL: nil, licenseURL: nil)
        #expect(try await bare.certificateRequest(CertificateContext()) == nil)
        let request = try await bare.licenseRequest(for: SPCMessage(SampleBytes.spc), context())
        #expect(request.sent.hasPrefix("POST https://keys.example/a/b?c=d\n"))
    }

    @Test func `the whole key URI names the key`() throws {
        #expect(try PlainIntegration().contentIdentifier(for: key) == ContentIdentifier(key.raw))
    }
}
