import Foundation
@_spi(Integrations) import Latchkey
import LatchkeyCore
@_spi(Integrations) import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeyExamples

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The integration of the article "Write an integration in code".
@Suite(.timeLimit(.minutes(5))) struct HouseKeysTests {
    private static let certificate = URL(string: "https://keys.house.example/certificate")
    private static let license = URL(string: "https://keys.house.example/license")

    @Test func `its hooks are its own`() async throws {
        let keys = HouseKeys(certificateURL: Self.certificate, licenseURL: Self.license) { _ in "a signature" }
        try await keys.checkHooks([
            .redaction, .certificateURL, .licenseURL, .contentIdentifier, .licenseRequest, .license,
        ])
    }

    @Test func `a key comes from the signed request's reply`() async throws {
        let reply = Data(#"{"ckc": "\#(SampleBytes.ckc(7).base64EncodedString())", "lease": 600}"#.utf8)
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.ok(reply)])
        let request = FakeKeyRequest("skd://movie-1")
        loader(transport).answer(request)
        #expect(try await request.firstAnswer().get() == SampleBytes.ckc(7))
        let sent = try #require(transport.requests.first { $0.httpMethod == "POST" })
        #expect(sent.url == Self.license)
        #expect(sent.value(forHTTPHeaderField: "Authorization") == "Bearer a token")
        let body = try #require(sent.httpBody)
        #expect(sent.value(forHTTPHeaderField: "X-Signature") == "signed \(body.count)")
        let challenge = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(challenge["title"] as? String == "movie-1" && challenge["isStored"] as? Bool == false)
        #expect((challenge["spc"] as? String).flatMap { Data(base64Encoded: $0) }?.isEmpty == false)
    }

    @Test func `a refusal has the service's words, and malformed JSON is refused`() async throws {
        let refusal = FakeTransport.Step.reply(
            HTTPReply(status: 403, body: Data(#"{"error": "H-7", "message": "not yours"}"#.utf8)))
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [refusal])
        let request = FakeKeyRequest("skd://movie-1")
        loader(transport).answer(request)
        let answer = await request.firstAnswer()
        let error = #expect(throws: ContentKeyError.self) { try answer.get() }
        #expect(error?.kind == .forbidden && error?.details.vendorCode == "H-7")

        let other = FakeKeyRequest("skd://movie-1")
        loader(FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.ok(Data("{}".utf8))])).answer(other)
        let second = await other.firstAnswer()
        let malformed = #expect(throws: ContentKeyError.self) { try second.get() }
        #expect(malformed?.kind == .licenseMalformed)
    }

    private func loader(_ transport: FakeTransport) -> ContentKeyLoader {
        ContentKeyLoader(
            HouseKeys(
                certificateURL: Self.certificate, licenseURL: Self.license,
                sign: { "signed \($0.count)" }),
            credentials: .token { _ in "a token" },
            configuration: LoaderConfiguration(retry: RetryPolicy(maximumAttempts: 1)), transport: transport,
            timekeeper: ManualTimekeeper())
    }
}
