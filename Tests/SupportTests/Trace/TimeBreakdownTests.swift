import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeySupport

@Suite struct TimeBreakdownTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)

    private func span(
        _ kind: TraceSpan.Kind, _ name: String, _ start: Double, _ length: Double, stage: String = ""
    ) -> TraceSpan {
        var span = TraceSpan(kind, name, from: Self.date.addingTimeInterval(start), for: .seconds(length))
        span.stage = stage
        return span
    }

    @Test func `each moment counts once, for the most specific step`() throws {
        let account = try #require(
            TimeBreakdown([
                span(.key, "key", 0, 0.1), span(.stage, "license", 0.01, 0.08), span(.wait, "wait for x", 0.02, 0.01),
                span(.request, "POST license", 0.03, 0.05, stage: "license"),
            ]))
        #expect(
            account.words
                == "100.0 ms: 50.0 ms license round trip (50 %), 20.0 ms in the loader and the player (20 %), "
                + "20.0 ms license (20 %), 10.0 ms wait for x (10 %)")
    }

    @Test func `time outside steps is named too, and two parallel requests are one time`() throws {
        let account = try #require(
            TimeBreakdown([
                span(.request, "GET a", 0, 0.1, stage: "media"), span(.request, "GET b", 0, 0.1, stage: "media"),
                span(.request, "GET c", 0.2, 0.1, stage: "media"),
            ]))
        #expect(account.parts.map(\.name) == ["media round trip", "between the steps"])
        #expect(account.parts.map { ($0.length.inMilliseconds).rounded() } == [200, 100])
    }

    @Test func `steps without length have no account`() {
        #expect(TimeBreakdown([]) == nil)
        #expect(TimeBreakdown([span(.work, "x", 0, 0), span(.key, "key", 5, 0)]) == nil)
    }

    @Test func `a request long after the decoding does not make it a pause`() throws {
        let account = try #require(
            TimeBreakdown([
                span(.request, "GET a", 0, 0.1, stage: "media"), span(.work, "decoding", 0.1, 5),
                span(.request, "GET b", 5.1, 0.1, stage: "session"),
            ]))
        #expect(account.parts.map(\.name) == ["media round trip", "session round trip"])
    }

    @Test func `decoding, which takes longest, is outside the breakdown`() {
        let html = TimeBreakdown.html(of: [
            span(.request, "GET a", 0, 0.01, stage: "media"), span(.work, "decoding", 0.01, 5),
        ])
        #expect(html.source.contains("10.0 ms media round trip (100 %). Besides, decoding took 5000.0 ms."))
    }
}
