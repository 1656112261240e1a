import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The way of one key, from request to answer.
@Suite(.timeLimit(.minutes(5))) struct KeyExchangeTests {
    @Test func `a key request is answered with the CKC`() async {
        let harness = Harness()
        let request = FakeKeyRequest(key)
        #expect(await harness.answer(request).ckc == SampleBytes.ckc())
        #expect(request.certificates == [SampleBytes.certificate])
        #expect(request.identifiers == [Data("abc".utf8)])
        #expect(harness.posts.map(\.httpBody) == [SampleBytes.spc])
        #expect(harness.posts.first?.value(forHTTPHeaderField: "x-vudrm-token") == "\(token)-1")
    }

    @Test func `two requests for one key are two exchanges, each with its own SPC and CKC`() async {
        let harness = Harness(
            over: FakeTransport { request, _ in
                guard let spc = request.httpBody, let number = spc.first else { return .certificate }
                return .ok(SampleBytes.ckc(Int(number)))
            })
        let requests = (1...20).map { number in FakeKeyRequest(key) { Data([UInt8(number)]) } }
        for request in requests { harness.loader.answer(request) }
        for (number, request) in zip(1..., requests) {
            #expect(await request.firstAnswer().ckc == SampleBytes.ckc(number))
        }
        #expect(harness.posts.count == 20)
        #expect(Set(harness.posts.map { $0.value(forHTTPHeaderField: "x-vudrm-token") }).count == 20)
    }

    @Test(arguments: [
        (FakeTransport.Step.status(400), "invalidRequest", false), (.status(404), "notFound", false),
        (.status(451), "regionDenied", false), (.status(501), "serverPermanent", false),
        (.status(304), "redirected", false), (.failure(TransportError(.tlsFailed, "No TLS.")), "tlsFailed", false),
        (.ok(Data(count: 2 << 20)), "bodyTooLarge", false), (.failure(CancellationError()), "cancelled", false),
    ])
    func `a final failure of the license request is one typed error`(
        step: FakeTransport.Step, code: String, isRetryable: Bool
    ) async {
        let harness = Harness(post: [step])
        let request = FakeKeyRequest(key)
        let error = await harness.answer(request).error
        #expect(error?.code == code && error?.stage == .license && error?.isRetryable == isRetryable)
        #expect(error?.remedy.isEmpty == false && error?.attempts == 1)
        #expect(harness.posts.count == 1 && request.answers.count == 1)
    }

    static let page = "<html><body>Gateway</body></html>"

    @Test(arguments: [
        (FakeTransport.Step.ok(page), "licenseMalformed", "The reply should be the CKC, and is an HTML page."),
        (.ok(Data()), "licenseMalformed", "The license service answered with an empty body."),
        (
            .ok(SampleBytes.ckc(cutting: 10)), "licenseMalformed",
            "The reply is a CKC that is cut off: 82 bytes instead of 92."
        ),
        (.status(500), "serverTransient", "The service answered 500."),
        (.status(429), "rateLimited", "The service answered 429."),
        (.failure(TransportError(.connectionLost, "It ended.")), "connectionLost", "It ended."),
    ])
    func `a temporary failure is one typed error after three attempts`(
        step: FakeTransport.Step, code: String, reason: String
    ) async {
        let harness = Harness(post: [step])
        let request = FakeKeyRequest(key)
        let error = await harness.error(request, after: .milliseconds(500), .seconds(1))
        #expect(error?.code == code && error?.stage == .license && error?.reason == reason)
        #expect(error?.isRetryable == true && error?.attempts == 3)
        #expect(harness.posts.count == 3 && request.answers.count == 1 && request.identifiers.count == 1)
    }

    @Test func `an error carries the service's status, code, words and request id`() async {
        var profile = VendorProfile.raw
        profile.errors = ErrorRules(code: [.json("code")], message: [.json("text")])
        let reply = HTTPReply(
            status: 403, headers: [("X-Request-Id", "r-9")], body: Data(#"{"code":"geo","text":"Not here"}"#.utf8))
        let error = await Harness(profile.unchecked, post: [.reply(reply)]).answer().error
        #expect(error?.service == ServiceReply(status: 403, code: "geo", message: "Not here", requestID: "r-9"))
        #expect(
            error?.description
                == "forbidden: The service answered 403, code geo, \"Not here\" (request r-9). "
                + "Ask the vendor why this token may not play this content, with the request id if the service gave one."
        )
    }

    @Test func `an invalid content identifier is refused before anything is sent`() async {
        for (uri, code) in [("skd://h/", "contentIdentifierMissing"), ("skd://h/a", "contentIdentifierMissing")] {
            let harness = Harness()
            let error = await harness.answer(FakeKeyRequest(KeyURI(uri))).error
            #expect(error?.code == code && error?.stage == .contentIdentifier)
            #expect(harness.posts.isEmpty)
        }
        let long = "skd://h/" + String(repeating: "x", count: 201)
        #expect(await Harness().answer(FakeKeyRequest(KeyURI(long))).error?.stage == .contentIdentifier)
    }

    @Test func `a content identifier that throws does not wait for the certificate`() async {
        let harness = Harness(get: [.hang])
        #expect(await harness.answer(FakeKeyRequest("skd://h/")).error?.stage == .contentIdentifier)
    }

    @Test func `a player without an SPC is named as the cause`() async throws {
        struct PlayerError: Error { let text = "player's own" }
        let harness = Harness()
        let error = await harness.answer(FakeKeyRequest(key) { throw PlayerError() }).error
        #expect(error?.code == "spcFailed" && error?.stage == .spc && error?.underlying is PlayerError)
        #expect(error?.reason == "The player made no SPC (PlayerError).")
        #expect(await harness.answer(FakeKeyRequest(key) { Data() }).error?.reason == "The player made an empty SPC.")
        #expect(harness.posts.isEmpty)
    }

    @Test func `an integration's own error is kept, and the reason does not quote it`() async {
        struct Mine: VendorIntegration {
            struct Oops: Error { let secret = "hidden" }
            let identifier = "mine"
            func bundledCertificate() throws -> ApplicationCertificate? {
                try ApplicationCertificate(SampleBytes.certificate)
            }
            func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
                throw Oops()
            }
        }
        let error = await Harness(Mine()).answer().error
        #expect(error?.code == "integrationFailed" && error?.stage == .license && error?.underlying is Mine.Oops)
        #expect(error?.reason == "The integration's code threw Oops.")
    }

    @Test func `a loader that the app no longer holds answers its requests`() async {
        let request = FakeKeyRequest(key)
        do { Harness().loader.answer(request) }
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
    }
}
