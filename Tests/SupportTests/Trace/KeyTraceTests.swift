import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeySupport

@Suite(.timeLimit(.minutes(5))) struct KeyTraceTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)

    private func event(_ milliseconds: Double, _ kind: KeyEvent.Kind, key: String = "skd://host/movie") -> KeyEvent {
        KeyEvent(exchange: 1, key: key, date: Self.date.addingTimeInterval(milliseconds / 1_000), kind: kind)
    }

    private func request(_ status: Int?, took: Double, edit: (inout KeyEvent.HTTPSummary) -> Void = { _ in })
        -> KeyEvent.HTTPSummary
    {
        var http = KeyEvent.HTTPSummary(
            stage: .license, method: "POST", url: "https://license.example.com/l", status: status, milliseconds: took)
        edit(&http)
        return http
    }

    /// A key whose license arrived at the second attempt.
    private var events: [KeyEvent] {
        [
            event(0, .requested(.streaming)), event(1, .stageEnded(.contentIdentifier, took: .milliseconds(1))),
            event(2, .certificateFromCache(saved: .milliseconds(40))),
            event(5, .stageEnded(.spc, took: .milliseconds(3))), event(25, .exchanged(request(503, took: 20))),
            event(25, .retrying(attempt: 1, after: .milliseconds(500), code: "serverTransient")),
            event(
                545,
                .exchanged(
                    request(200, took: 10) {
                        $0.preparationMilliseconds = 6
                        $0.queueMilliseconds = 4
                        ($0.sentBytes, $0.receivedBytes, $0.requestID) = (900, 1_000, "r-1")
                    })), event(546, .stageEnded(.license, took: .milliseconds(541))),
            event(547, .answered(took: .milliseconds(547))),
            event(547, .renewalPlanned(after: .seconds(45), lease: .seconds(60))),
        ]
    }

    private func trace(_ events: [KeyEvent]) -> KeyTrace {
        var trace = KeyTrace(seed: 7)
        for event in events { trace.add(event) }
        return trace
    }

    @Test func `events become spans with their attempts, waits, bytes and parents`() throws {
        let exchange = try #require(trace(events).exchanges.first)
        let spans = exchange.spans
        let key = try #require(spans.first)
        #expect(key.kind == .key && key.length == .milliseconds(547) && exchange.outcome == "key in 547 ms")
        let requests = spans.filter { $0.kind == .request }
        #expect(requests.map(\.exchange?.attempt) == [1, 2] && requests.map(\.code) == ["503", nil])
        #expect(requests.last?.exchange?.requestID == "r-1" && requests.last?.exchange?.sentBytes == 900)
        let license = try #require(spans.first { $0.kind == .stage && $0.stage == "license" })
        #expect(requests.allSatisfy { $0.parentID == license.spanID } && license.parentID == key.spanID)
        let waits = spans.filter { $0.kind == .wait }.map(\.waitedFor)
        #expect(
            waits == [
                "the next attempt, after serverTransient", "credentials and request",
                "the host, which has its limit of requests",
            ])
        #expect(Set(spans.map(\.spanID)).count == spans.count && spans.allSatisfy { $0.spanID.count == 16 })
        #expect(exchange.traceID.count == 32)
    }

    @Test func `the page has the problem with its remedy first, then leases, waterfall and table`() throws {
        let error = ContentKeyError(.forbidden, stage: .license, "The service answered 403.", remedy: "Ask the vendor.")
        let page = String(decoding: trace(events + [event(600, .ended(error))]).data(as: .html), as: UTF8.self)
        let places = [
            "<h2>license: forbidden", "Ask the vendor.", "<h2>Leases", "<h2>Key request 1", "attempt 2",
            "<h2>All steps",
        ]
        .map { page.range(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil })
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
        #expect(page.contains("<title>license: forbidden"))
        #expect(page.contains("prefers-color-scheme: dark") && page.contains("@media print"))
    }

    @Test func `the page needs no network and no script, and foreign text stays text`() {
        let hostile = "skd://host/<script>alert(1)</script>\"onload='x'"
        let page = String(
            decoding: trace([event(1, .answered(took: .milliseconds(1)), key: hostile)]).data(as: .html), as: UTF8.self)
        #expect(!page.contains("<script") && !page.contains("\"onload") && page.contains("&lt;script&gt;"))
        #expect(!page.contains("src=") && !page.contains("<link") && !page.contains("url("))
        #expect(page.contains("default-src 'none'") || page.contains("default-src &#39;none&#39;"))
    }

    @Test func `a wrong key of many is one problem`() {
        let error = ContentKeyError(.forbidden, stage: .license, "The service answered 403.")
        let failed = (0..<300).map { event(Double($0), .failed(error, took: .zero), key: "skd://host/\($0)") }
        #expect(trace(failed).allProblems.count == 1)
    }

    @Test func `a cancelled request is fine`() {
        #expect(
            trace([event(1, .failed(ContentKeyError(.cancelled, "Nobody waits."), took: .zero))]).allProblems.isEmpty)
    }

    @Test func `OTLP has hexadecimal identifiers, nanoseconds as text, and the error's code`() throws {
        let json = try #require(
            try JSONSerialization.jsonObject(with: trace(events).data(as: .openTelemetry)) as? [String: Any])
        let resource = try #require((json["resourceSpans"] as? [[String: Any]])?.first)
        let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
        let spans = try #require(scope["spans"] as? [[String: Any]])
        let key = try #require(spans.first)
        #expect(key["startTimeUnixNano"] as? String == "1767225600000000000")
        #expect(key["endTimeUnixNano"] as? String == "1767225600547000000")
        for span in spans {
            #expect(Data(hexString: span["traceId"] as? String ?? "")?.count == 16)
            #expect(Data(hexString: span["spanId"] as? String ?? "")?.count == 8)
        }
        let statuses = spans.compactMap { ($0["status"] as? [String: Any])?["message"] as? String }
        #expect(statuses == ["503"])
    }

    @Test func `HAR has each request once, in order, without header fields`() throws {
        let json = try #require(try JSONSerialization.jsonObject(with: trace(events).data(as: .har)) as? [String: Any])
        let log = try #require(json["log"] as? [String: Any])
        let entries = try #require(log["entries"] as? [[String: Any]])
        #expect(log["version"] as? String == "1.2")
        #expect(entries.map { ($0["response"] as? [String: Any])?["status"] as? Int } == [503, 200])
        #expect(entries.allSatisfy { (($0["request"] as? [String: Any])?["headers"] as? [Any])?.isEmpty == true })
        #expect(entries.map { $0["startedDateTime"] as? String }.compactMap(\.self).sorted().count == 2)
    }

    /// Each object on a line, with its place and its values.
    private static func lines(_ value: Any, at place: String = "log") -> [String] {
        if let list = value as? [Any] {
            return list.enumerated().flatMap { lines($0.element, at: "\(place).\($0.offset)") }
        }
        guard let object = value as? [String: Any] else { return [] }
        let values = object.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case let list as [Any]: "\(name)[\(list.count)]"
            case is [String: Any]: "\(name){}"
            default: "\(name)=\(value)"
            }
        }
        return ["\(place):\(values.map { " \($0)" }.joined())"]
            + object.sorted { $0.key < $1.key }.flatMap { lines($0.value, at: $0.key) }
    }

    @Test func `an archive has each member of an exchange, but a trace's omits long and secret ones`() throws {
        var exchange = RecordedExchange(
            RecordedRequest(
                method: Self.long, url: "https://u:p@host/l?token=\(Self.long)",
                headers: [("Content-Type", "text/plain"), ("Cookie", Self.long)], body: Data("spc".utf8)),
            HTTPReply(status: 307, headers: [("Location", "/again"), ("Content-Type", "a/b")], body: Data([0xff])),
            at: Self.date)
        (exchange.stage, exchange.attempt, exchange.number) = ("license", 2, 3)
        (exchange.requestID, exchange.code, exchange.milliseconds) = (Self.long, "redirectRefused", 2)
        (exchange.sentBytes, exchange.receivedBytes) = (3, 1)
        var span = TraceSpan(.request, "POST license", from: Self.date, for: .milliseconds(2))
        (span.stage, span.code, span.exchange) = ("license", "redirectRefused", exchange)
        var trace = KeyTrace(seed: 7)
        trace.add(span)
        let files = [HTTPArchive.data([exchange]), trace.data(as: .har)]
        for (file, expected) in zip(files, [Self.wholeArchive, Self.shownArchive]) {
            let lines = Self.lines(try JSONSerialization.jsonObject(with: file)).joined(separator: "\n")
            #expect(lines == expected, "\(lines)")
        }
    }

    @Test func `a trace without keys counts its failed requests, and without those all is well`() {
        func page(_ codes: [String?]) -> String {
            var trace = KeyTrace(seed: 1)
            for code in codes {
                var span = TraceSpan(.request, "POST license", from: Date(), for: .milliseconds(2))
                span.code = code
                span.exchange = RecordedExchange(
                    RecordedRequest(method: "POST", url: "https://license.example.com/"), HTTPReply(status: 200))
                trace.add(span)
            }
            return String(decoding: trace.data(as: .html), as: UTF8.self)
        }
        let refused = page([nil, "403 blocked", "503 overloaded", "403 blocked"])
        #expect(refused.contains("3 of 4 requests failed") && refused.contains("403 blocked (2), 503 overloaded (1)."))
        for page in [refused, page([nil, nil])] { #expect(!page.contains("No key failed") && !page.contains("0 key")) }
        #expect(page([nil]).contains("No request failed."))
    }

    @Test func `an empty trace is a page, an empty list, and an archive without entries`() throws {
        let trace = KeyTrace()
        #expect(String(decoding: trace.data(as: .html), as: UTF8.self).contains("No key failed."))
        for format in [KeyTrace.Format.openTelemetry, .har] {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: trace.data(as: format)) }
        }
    }

    @Test func `numbers without an event do no harm`() {
        for number in [Double.infinity, .nan, -1, 1e300, 1e13] {
            let trace = trace([event(0, .exchanged(request(200, took: number) { $0.queueMilliseconds = number }))])
            for format in KeyTrace.Format.allCases { #expect(!trace.data(as: format).isEmpty) }
        }
    }

    @Test func `the latest 10,000 of many events are kept`() {
        let many = (0..<10_100).map { event(Double($0), .released) }
        #expect(trace(many).exchanges.first?.spans.count == 10_000)
    }

    @Test(arguments: [
        ("https://u:p@host/l?a=1&token=x", "https://‹user›@host/l?a=‹1:"),
        ("skd://host/k#fragment", "skd://host/k#‹8:"),
        ("https://host/\(String(repeating: "a", count: 65))/x", "https://host/‹65:"),
        ("skd://host?\(42)", "skd://host?‹2:"), ("https://host/hdntl=exp=1~hmac=abc/l", "https://host/hdntl=‹14:"),
        ("https://host/l;token=abc", "https://host/l;token=‹3:"),
        ("skd://host/a\u{1b}[2J", "skd://host/a\\u{1b}[2J"),
    ])
    func `an address is shown without likely secrets`(url: String, start: String) {
        #expect(TraceText.shown(url: url).hasPrefix(start), "\(TraceText.shown(url: url))")
    }

    private static let long = String(repeating: "0123456789", count: 7)

    private static let wholeArchive = """
        log: log{}
        log: creator{} entries[1] version=1.2
        creator: name=Latchkey version=1
        entries.0: _attempt=2 _error=redirectRefused _key=3 _requestId=\(long) _stage=license cache{} request{} response{} \
        startedDateTime=2026-01-01T00:00:00.000Z time=2 timings{}
        cache:
        request: bodySize=3 cookies[0] headers[2] headersSize=-1 httpVersion=unknown method=\(long) postData{} \
        queryString[0] url=https://u:p@host/l?token=\(long)
        headers.0: name=Content-Type value=text/plain
        headers.1: name=Cookie value=\(long)
        postData: mimeType=text/plain text=spc
        response: bodySize=1 content{} cookies[0] headers[2] headersSize=-1 httpVersion=unknown redirectURL=/again \
        status=307 statusText=
        content: encoding=base64 mimeType=a/b size=1 text=/w==
        headers.0: name=Location value=/again
        headers.1: name=Content-Type value=a/b
        timings: receive=0 send=0 wait=2
        """

    private static let shownArchive = """
        log: log{}
        log: creator{} entries[1] pages[1] version=1.2
        creator: name=Latchkey version=1
        entries.0: _attempt=2 _error=redirectRefused _key=3 _requestId=‹70:b5c3c2› _stage=license cache{} \
        pageref=page_1 request{} response{} startedDateTime=2026-01-01T00:00:00.000Z time=2 timings{}
        cache:
        request: bodySize=3 cookies[0] headers[0] headersSize=-1 httpVersion=unknown method=01234567890123456789 \
        queryString[1] url=https://%E2%80%B9user%E2%80%BA@host/l?token=%E2%80%B970:b5c3c2%E2%80%BA
        queryString.0: name=token value=‹70:b5c3c2›
        response: bodySize=1 content{} cookies[0] headers[0] headersSize=-1 httpVersion=unknown redirectURL= \
        status=307 statusText=
        content: mimeType=application/octet-stream size=1
        timings: receive=0 send=0 wait=2
        pages.0: id=page_1 pageTimings{} startedDateTime=2026-01-01T00:00:00.000Z title=other requests
        pageTimings:
        """
}
