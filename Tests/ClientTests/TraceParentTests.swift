import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct TraceParentTests {
    private func traceparents(_ harness: Harness) -> [String?] {
        harness.transport.requests.map { $0.value(forHTTPHeaderField: "traceparent") }
    }

    @Test func `requests are traced only on demand`() async {
        let harness = Harness()
        #expect(await harness.answer().ckc == SampleBytes.ckc())
        #expect(traceparents(harness) == [nil, nil])
    }

    @Test func `each request has its own traceparent in its key's trace, and the trace has the same`()
        async throws
    {
        let harness = Harness(post: [.status(503), .ckc]) { $0.tracing = .traceparent }
        let events = harness.loader.events()
        async let answer = harness.answer()
        await harness.advance([.milliseconds(500)])
        #expect(await answer.ckc == SampleBytes.ckc())
        let sent = traceparents(harness).compactMap(\.self)
        #expect(sent.count == 3 && Set(sent).count == 3)
        #expect(sent.allSatisfy { $0.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil }, "\(sent)")
        #expect(Set(sent.map { $0.split(separator: "-")[1] }).count == 1)
        let noted = await events.untilAnswered().compactMap { event -> String? in
            switch event.kind {
            case .exchanged(let http), .unanswered(let http, _): http.traceParent?.header
            default: nil
            }
        }
        #expect(noted.sorted() == sent.sorted())
    }

    @Test func `two keys are two traces`() async {
        let harness = Harness { $0.tracing = .traceparent }
        _ = await harness.answer()
        _ = await harness.answer(FakeKeyRequest("skd://fairplay-license.vudrm.tech/license/other"))
        #expect(
            Set(harness.posts.map { $0.value(forHTTPHeaderField: "traceparent")?.split(separator: "-")[1] }).count == 2)
    }

    @Test func `a redirect within the origin keeps the trace, and one that drops credentials drops it`() async {
        let within = Harness(post: [.status(307, [("location", "/other")]), .ckc]) { $0.tracing = .traceparent }
        #expect(await within.answer().ckc == SampleBytes.ckc())
        #expect(within.posts.compactMap { $0.value(forHTTPHeaderField: "traceparent") }.count == 2)
        let away = Harness(post: [.status(307, [("location", "https://other.example/l")]), .ckc]) {
            $0.tracing = .traceparent
            $0.hosts.allowed = ["other.example"]
        }
        #expect(await away.answer().ckc == SampleBytes.ckc())
        #expect(away.posts.map { $0.value(forHTTPHeaderField: "traceparent") != nil } == [true, false])
    }

    @Test(arguments: [("r-1", "r-1"), (token, nil), ("with blank", nil), (String(repeating: "x", count: 65), nil)])
    func `a reply's valid request id is noted`(id: String, noted: String?) async {
        let harness = Harness(
            post: [.reply(HTTPReply(status: 200, headers: [("X-Request-Id", id)], body: SampleBytes.ckc()))],
            credentials: .fixed(.token(token)))
        let events = harness.loader.events()
        _ = await harness.answer()
        let ids = await events.untilAnswered().compactMap { event in
            if case .exchanged(let http) = event.kind, http.stage == .license { http } else { nil }
        }
        #expect(ids.map(\.requestID) == [noted])
        #expect(ids.first?.sentBytes == SampleBytes.spc.count && ids.first?.receivedBytes == SampleBytes.ckc().count)
    }
}
