import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyVendors
import Testing

@Suite struct TrafficCaptureTests {
    private func request(_ text: String) throws -> RecordedRequest {
        try #require(try TrafficCapture(Data(text.utf8)).exchanges.first?.request)
    }

    @Test(arguments: [
        (#"curl 'https://h/a?b=1' -H 'X-A: it'\''s' --data-raw '{"spc":"A"}'"#, "X-A", "it's", #"{"spc":"A"}"#),
        (#"curl "https://h/a?b=1" -H "X-A: say \"x\"" -d spc=A -d assetId=B"#, "X-A", #"say "x""#, "spc=A&assetId=B"),
        (#"$ curl -XPOST --url https://h/a?b=1 --header='X-A: c' --json '{}' -s -L -o out"#, "X-A", "c", "{}"),
        ("curl https://h/a?b=1 \\\n -H $'X-A: c\\'d' \\\n --data-binary 'x' --compressed", "X-A", "c'd", "x"),
    ])
    func `a curl command is split as in a shell`(text: String, name: String, value: String, body: String) throws {
        let request = try request(text)
        #expect(request.method == "POST")
        #expect(request.url == "https://h/a?b=1")
        #expect(request.header(name) == value)
        #expect(request.body == Data(body.utf8))
        #expect(request.header("content-type") != nil)
    }

    @Test func `a body in a file is left out, but its method stays`() throws {
        let request = try request("curl https://h/a -H 'Content-Type: application/octet-stream' --data-binary @spc.bin")
        #expect(request.method == "POST")
        #expect(request.body == nil)
        #expect(request.header("Content-Type") == "application/octet-stream")
    }

    @Test(arguments: ["\r\n", "\n"])
    func `an HTTP message has its body after the empty line, with either line end`(end: String) throws {
        let lines = ["POST /a?b=1 HTTP/1.1", "Host: h.example", "X-A:  c ", "", "spc=A"]
        let request = try request(lines.joined(separator: end))
        #expect(request.url == "https://h.example/a?b=1")
        #expect(request.header("x-a") == "c")
        #expect(request.body == Data("spc=A".utf8))
    }

    @Test func `a binary body stays unchanged`() throws {
        let body = Data([0, 0, 0, 1, 0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0x0a, 7])
        let capture = try TrafficCapture(Data("HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8) + body)
        let found = try #require(capture.exchanges.first)
        #expect(found.request == nil && found.reply?.status == 200 && found.reply?.body == body)
    }

    @Test func `a HAR file gives requests and replies in order, and a request without a reply`() throws {
        let har = """
            {"log":{"entries":[
              {"request":{"method":"POST","url":"https://h/1","headers":[],
               "postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"spc","value":"A"}]}},
               "response":{"status":403,"headers":[{"name":"x","value":"y"}],"content":{"text":"bm8=","encoding":"base64"}}},
              {"request":{"method":"GET","url":"https://h/2"},"response":{"status":0}}]}}
            """
        let found = try TrafficCapture(Data(har.utf8)).exchanges
        #expect(found.map(\.request?.url) == ["https://h/1", "https://h/2"])
        #expect(found[0].request?.body == Data("spc=A".utf8))
        #expect(found[0].request?.header("Content-Type") == "application/x-www-form-urlencoded")
        #expect(found.map(\.reply?.status) == [403, nil] && found[0].reply?.body == Data("no".utf8))
    }

    @Test(arguments: [
        (#"{"log":{"entries":[{"request":{"url":"x"}}]}}"#, "log.entries[0].request.method"), ("{}", "log"),
        ("{", "$"),
    ])
    func `a truncated HAR file gives the place`(text: String, place: String) {
        let error = #expect(throws: Diagnosis.self) { try TrafficCapture(Data(text.utf8)) }
        #expect(error?.code == "captureMalformed")
        #expect(error?.reason.contains(" \(place): ") == true)
    }

    @Test(arguments: ["", "x", "GET", "HTTP/1.1", "HTTP/1.1 99999999999999999999 x", "\u{0}\u{1}", "> ", "POST /x"])
    func `anything else is unknown`(text: String) {
        #expect(throws: Diagnosis.self) { try TrafficCapture(Data(text.utf8)) }
    }

    @Test func `a leading byte order mark is skipped`() throws {
        #expect(try TrafficCapture(Data([0xef, 0xbb, 0xbf]) + Data(#"{"log":{"entries":[]}}"#.utf8)).exchanges.isEmpty)
    }

    // How recorders write bodies.

    /// Bytes of which no three in a row are UTF-8, with a control character, as an SPC has.
    private static let bytes = Data([0, 0, 0, 1, 0x80, 0x99, 0xe9, 0xff, 0x0a, 0x41, 0xc3])

    private func body(_ postData: String, size: Int? = nil) throws -> (bytes: Data?, gap: BodyGap?) {
        let stated = size.map { ",\"bodySize\":\($0)" } ?? ""
        let request = try request(
            "{\"log\":{\"entries\":[{\"request\":{\"method\":\"POST\",\"url\":\"https://h/1\"\(stated)\(postData)}}]}}")
        return (request.body, request.gap)
    }

    @Test(arguments: [
        #"{"text":"AAAAAYCZ6f8KQcM=","encoding":"base64"}"#,
        #"{"text":"\u0000\u0000\u0000\u0001\u0080\u0099\u00e9\u00ff\nA\u00c3"}"#,  // ISO 8859-1
        #"{"text":"\u0000\u0000\u0000\u0001\u20ac\u2122\u00e9\u00ff\nA\u00c3"}"#,  // Windows-1252
        #"{"text":"\u0000\u0000\u0000\u0001\udc80\udc99\udce9\uDCFF\nA\udcc3"}"#,  // surrogate escapes
    ])
    func `bytes are read in each encoding that recorders use`(data: String) throws {
        for size in [nil, Self.bytes.count] {
            let found = try body(",\"postData\":\(data)", size: size)
            #expect(found.bytes == Self.bytes && found.gap == nil)
        }
    }

    @Test func `text stays text, and a surrogate pair is one character`() throws {
        let found = try body(#","postData":{"text":"spc=\u00e9 \\udc80 \ud83e\udd8a"}"#)
        #expect(found.bytes == Data("spc=\u{e9} \\udc80 \u{1f98a}".utf8) && found.gap == nil)
    }

    @Test func `text sent by a client is not taken for the recorder's encoding`() throws {
        let text = String(decoding: Self.bytes, as: UTF8.self)
        let escaped = #"\u0000\u0000\u0000\u0001\ufffd\ufffd\ufffd\ufffd\nA\ufffd"#
        let sent = try body(",\"postData\":{\"text\":\"\(escaped)\"}", size: text.utf8.count)
        #expect(sent.bytes == Data(text.utf8) && sent.gap == nil)
        let lost = try body(",\"postData\":{\"text\":\"\(escaped)\"}", size: Self.bytes.count)
        #expect(lost.gap == .lossy)
    }

    @Test(arguments: [
        ("", 9 as Int?, BodyGap.notSaved as BodyGap?), ("", nil, .notSaved), ("", 0, nil),
        (#","postData":{"text":""}"#, 9, .notSaved),
        (#","postData":{"text":"abc"}"#, 90, .cutShort), (#","postData":{"text":"abc"}"#, 3, nil),
        (#","postData":{"text":"AAAA","encoding":"base64"}"#, 90, .cutShort),
    ])
    func `a missing or truncated body is reported`(postData: String, size: Int?, gap: BodyGap?) throws {
        #expect(try body(postData, size: size).gap == gap)
    }

    @Test func `curl -v output has no bodies, and says so`() throws {
        let text = ["a", "b"].map {
            "> POST /\($0) HTTP/1.1\n> Host: h\n>\n< HTTP/1.1 100 Continue\n<\n< HTTP/1.1 200 OK\n< X: \($0)\n<\n"
        }
        let found = try TrafficCapture(Data(text.joined().utf8)).exchanges
        #expect(found.map(\.request?.url) == ["https://h/a", "https://h/b"])
        #expect(found.map { $0.reply?.header("x") } == ["a", "b"])
        #expect(found.allSatisfy { $0.request?.gap == .notSaved && $0.replyGap == .notSaved })
    }

    @Test func `another recorder's members named like Latchkey's do no harm`() throws {
        let har = #"{"log":{"entries":[{"_key":"a","_stage":[],"time":"1","request":{"method":"GET","url":"h"}}]}}"#
        #expect(try TrafficCapture(Data(har.utf8)).exchanges.map(\.request?.url) == ["h"])
    }
}
