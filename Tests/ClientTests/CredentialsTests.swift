import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct CredentialsTests {
    @Test(arguments: [
        (KeyPurpose.streaming, Credentials.Reason.first), (.persistable, .offline), (.renewal, .renewal),
    ])
    func `know their purpose`(purpose: KeyPurpose, reason: Credentials.Reason) async {
        let harness = Harness(VendorProfile.json.unchecked)
        _ = await harness.answer(FakeKeyRequest(key, purpose: purpose))
        #expect(harness.credentials.reasons == [.certificate, reason])
    }

    @Test func `are requested anew for each attempt`() async {
        let harness = Harness(post: [.status(503), .failure(TransportError(.timedOut, "")), .ckc])
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        await harness.advance([.milliseconds(500), .seconds(1)])
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
        #expect(harness.credentials.reasons == [.first, .retry(attempt: 2), .retry(attempt: 3)])
        let sent = harness.posts.map { $0.value(forHTTPHeaderField: "x-vudrm-token") }
        #expect(sent == ["\(token)-1", "\(token)-2", "\(token)-3"])
    }

    @Test(arguments: [401, 403])
    func `are refreshed once, promptly, when a service rejects them`(status: Int) async {
        let harness = Harness(post: [.status(status), .ckc])
        #expect(await harness.answer().ckc == SampleBytes.ckc())
        #expect(harness.credentials.reasons == [.first, .rejected])
    }

    @Test(arguments: [(401, "unauthenticated"), (403, "forbidden")])
    func `are not refreshed twice`(status: Int, code: String) async {
        let harness = Harness(post: [.status(status)])
        let error = await harness.answer().error
        #expect(error?.code == code && error?.attempts == 2)
        #expect(harness.credentials.reasons == [.first, .rejected])
    }

    @Test(arguments: [false, true])
    func `are refreshed or not as the vendor documents for the service's code`(mayHelp: Bool) async {
        var profile = VendorProfile.raw
        let code = DocumentedCode(
            mayHelp ? .invalidRequest : .forbidden, "It is closed.", "Open it.", newCredentials: mayHelp)
        profile.errors = ErrorRules(code: [.json("code")], codes: ["E7": code])
        let reply = HTTPReply(status: 403, body: Data(#"{"code":"E7"}"#.utf8))
        let harness = Harness(profile.unchecked, post: [.reply(reply)])
        let error = await harness.answer().error
        #expect(harness.credentials.reasons == (mayHelp ? [.first, .rejected] : [.first]))
        #expect(error?.reason == "The service answered 403, code E7. It is closed." && error?.remedy == "Open it.")
    }

    @Test func `are not refreshed if the request had none`() async {
        let harness = Harness(get: [.status(403)])
        #expect(await harness.answer().error?.stage == .certificate)
        #expect(harness.transport.requests.count == 1 && harness.credentials.reasons.isEmpty)
    }

    @Test func `that the closure does not give fail the key at the stage that needs them`() async {
        struct NoSession: Error { let hint = "hidden" }
        let failing = Credentials { _ in throw NoSession() }
        let license = await Harness(VendorProfile.raw.unchecked, credentials: failing).answer().error
        #expect(license?.code == "credentialsFailed" && license?.stage == .license)
        #expect(license?.reason == "The app gave no credentials (NoSession)." && license?.underlying is NoSession)
        let certificate = await Harness(VendorProfile.json.unchecked, credentials: failing).answer().error
        #expect(certificate?.code == "credentialsFailed" && certificate?.stage == .certificate)
    }

    @Test func `are named when missing`() async {
        let error = await Harness(VendorProfile.raw.unchecked, credentials: Credentials.none).answer().error
        #expect(error?.code == "missingCredential" && error?.stage == .license)
    }

    @Test func `with one token form a set of one`() async throws {
        let credentials = Credentials.token { "for \($0.reason)" }
        #expect(try await credentials(.init(.renewal)) == .token("for renewal"))
        #expect(try await Credentials.fixed(.token("t"))(.init(.first)) == .token("t"))
    }
}
