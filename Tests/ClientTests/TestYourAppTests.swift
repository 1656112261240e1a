import Foundation
import Latchkey
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// The code of the article "Test your app", compiled and run.
@Suite(.timeLimit(.minutes(5))) struct TestYourAppTests {
    @Test func `an expired sign-in leads to the sign-in page`() async throws {
        // The certificate comes, and the license service refuses.
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.status(401)])
        let loader = ContentKeyLoader(
            .vuDRM(certificate: URL(string: "https://fairplay-license.vudrm.tech/certificate/demo")!),
            credentials: .fixed(.token("a token")), transport: transport, timekeeper: ManualTimekeeper())

        let request = FakeKeyRequest("skd://fairplay-license.vudrm.tech/license/movie-1")
        loader.answer(request)

        let answer = await request.firstAnswer()
        let error = #expect(throws: ContentKeyError.self) { try answer.get() }
        #expect(error?.kind == .unauthenticated)
        #expect(error?.viewerMessage == .signIn)
        #expect(request.answers.count == 1)
    }
}
