import Foundation
import Latchkey
import LatchkeySupport
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A page of everything that happens to the keys until the first has its answer.
private func page(of loader: ContentKeyLoader) async -> Data {
    var trace = KeyTrace()
    for await event in loader.events() {
        trace.add(event)
        if case .answered = event.kind { break }
        if case .failed = event.kind { break }
    }
    return trace.data(as: .html)
}

/// The page of the article "Diagnose a refusal", compiled and run.
@Suite(.timeLimit(.minutes(1))) struct TraceOfARefusalTests {
    @Test func `a refused key's page has its cause and its request id`() async {
        let refusal = HTTPReply(
            status: 403, headers: [("x-request-id", "r-42")], body: Data(#"{"message":"policy ended"}"#.utf8))
        let harness = RecordedLoader(over: FakeTransport(get: [.certificate], post: [.reply(refusal)]))
        async let written = page(of: harness.loader)
        await harness.answer()
        let text = String(decoding: await written, as: UTF8.self)
        #expect(text.contains("<h2>license: forbidden</h2>") && text.contains("r-42"))
        #expect(!text.contains("demo-token"))
    }
}
