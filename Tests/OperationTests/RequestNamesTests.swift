import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensing
import Testing

@Suite struct RequestNamesTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    private func context(_ parents: [String], states: [String] = []) -> TraceContext {
        var generator = SeededGenerator(seed: 1)
        var headers = HTTPHeaders(parents.map { .init(name: "traceparent", value: $0) })
        for state in states { headers.append("tracestate", state) }
        return TraceContext(of: headers, using: &generator)
    }

    @Test func `a request's own identifier is kept, and another form is replaced`() {
        let id = { (text: String) in
            RequestID(of: HTTPRequest(method: .get, target: "/", headers: ["X-Request-ID": text])).text
        }
        #expect(id("player.1-A_9") == "player.1-A_9")
        for wrong in ["short", String(repeating: "a", count: 129), "with blank", "späte-anfrage", "line\r\nbreak"] {
            #expect(UUID(uuidString: id(wrong)) != nil, "\(wrong)")
        }
        #expect(RequestID() != RequestID())
    }

    @Test func `a trace continues with a new span`() {
        let context = context(["00-\(Self.trace)-\(Self.span)-01"], states: ["a=1", "b=2"])
        #expect(context.traceID == Self.trace)
        #expect(context.parentID == Self.span)
        #expect(context.spanID != Self.span)
        #expect(context.headers["traceparent"] == "00-\(Self.trace)-\(context.spanID)-01")
        #expect(context.headers["tracestate"] == "a=1,b=2")
    }

    @Test(arguments: [
        "", "00", "ff-\(trace)-\(span)-01", "00-\(trace)-\(span)-01-more", "00-\(trace)-\(span)",
        "00-\(trace.uppercased())-\(span)-01", "00-\(String(repeating: "0", count: 32))-\(span)-01",
        "00-\(trace)-0000000000000000-01", "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-0g", "0-\(trace)-\(span)-01",
        "00-\(trace)x-\(span)-01",
    ])
    func `an invalid parent begins a new trace without its state`(parent: String) {
        let context = context([parent], states: ["a=1"])
        #expect(context.traceID != Self.trace)
        #expect(context.parentID == nil)
        #expect(context.state == nil)
        #expect(context.headers["traceparent"]?.utf8.count == 55)
    }

    @Test func `a later version is read as far as known, and two parents are ignored`() {
        let parent = "00-\(Self.trace)-\(Self.span)-00"
        #expect(context(["cc-\(Self.trace)-\(Self.span)-03-more"]).traceID == Self.trace)
        #expect(context(["cc-\(Self.trace)-\(Self.span)-03-more"]).isSampled)
        #expect(context([parent, parent]).traceID != Self.trace)
    }

    @Test func `a state that is too long or has control characters is dropped`() {
        let parent = "00-\(Self.trace)-\(Self.span)-00"
        #expect(context([parent], states: ["a=" + String(repeating: "x", count: 510)]).state?.utf8.count == 512)
        #expect(context([parent], states: ["a=" + String(repeating: "x", count: 511)]).state == nil)
        #expect(context([parent], states: ["a=\u{1b}"]).state == nil)
    }
}
