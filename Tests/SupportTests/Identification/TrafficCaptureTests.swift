import Foundation
import LatchkeyCore
import LatchkeySupport
import LatchkeyVendors
import Testing

@Suite struct TrafficCaptureTests {
    private func request(_ text: String) throws -> CapturedRequest {
        guard case .request(let request) = try #require(TrafficCapture(Data(text.utf8)).messages.first) else {
            throw CancellationError()
        }
        return request
    }

    @Test(arguments: [
        (#"curl 'https://h/a?b=1' -H 'X-A: it'\''s' --data-raw '{"spc":"A"}'"#, "X-A", "it's", #"{"spc":"A"}"#),
        (#"curl "https://h/a?b=1" -H "X-A: say \"x\"" -d spc=A -d assetId=B"#, "X-A", #"say "x""#, "spc=A&assetId=B"),
        (#"$ curl -XPOST --url https://h/a?b=1 --header='X-A: c' --json '{}' -s -L -o out"#, "X-A", "c", "{}"),
        ("curl https://h/a?b=1 \\\n -H $'X-A: c\\'d' \\\n --data-binary 'x' --compressed", "X-A", "c'd", "x"),
    ])
    func `a curl command is cut as a shell cuts it`(text: String, name: String, value: String, body: String) throws {
        let request = try request(text)
        #expect(request.method == "POST")
        #expect(request.url == "https://h/a?b=1")
        #expect(request.header(name) == value)
        #expect(request.body == Data(body.utf8))
        #expect(request.header("content-type") != nil)
    }

    @Test func `a body in a file is left out, and its method stays`() throws {
        let request = try request("curl https://h/a -H 'Content-Type: application/octet-stream' --data-binary @spc.bin")
        #expect(request.method == "POST")
        #expect(request.body == nil)
        #expect(request.header("Content-Type") == "application/octet-stream")
    }

    @Test(arguments: ["\r\n", "\n"])
    func `an HTTP message has its body behind the empty line, with either line end`(end: String) throws {
        let lines = ["POST /a?b=1 HTTP/1.1", "Host: h.example", "X-A:  c ", "", "spc=A"]
        let request = try request(lines.joined(separator: end))
        #expect(request.url == "https://h.example/a?b=1")
        #expect(request.header("x-a") == "c")
        #expect(request.body == Data("spc=A".utf8))
    }

    @Test func `a binary body stays unchanged`() throws {
        let body = Data([0, 0, 0, 1, 0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0x0a, 7])
        let capture = try TrafficCapture(Data("HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8) + body)
        guard case .reply(let reply)? = capture.messages.first else { throw CancellationError() }
        #expect(reply.status == 200)
        #expect(reply.body == body)
    }

    @Test func `a HAR file gives requests and replies in order, and a request without a reply`() throws {
        let har = """
            {"log":{"entries":[
              {"request":{"method":"POST","url":"https://h/1","headers":[],
               "postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"spc","value":"A"}]}},
               "response":{"status":403,"headers":[{"name":"x","value":"y"}],"content":{"text":"bm8=","encoding":"base64"}}},
              {"request":{"method":"GET","url":"https://h/2"},"response":{"status":0}}]}}
            """
        let messages = try TrafficCapture(Data(har.utf8)).messages
        #expect(messages.count == 3)
        guard case .request(let first) = messages[0], case .reply(let reply) = messages[1] else {
            throw CancellationError()
        }
        #expect(first.body == Data("spc=A".utf8))
        #expect(first.header("Content-Type") == "application/x-www-form-urlencoded")
        #expect(reply.status == 403 && reply.body == Data("no".utf8))
    }

    @Test(arguments: [
        (#"{"log":{"entries":[{"request":{"url":"x"}}]}}"#, "log.entries[0].request.method"), ("{}", "log"),
        ("{", "$"),
    ])
    func `a HAR file that breaks off says where`(text: String, place: String) {
        let error = #expect(throws: Diagnosis.self) { try TrafficCapture(Data(text.utf8)) }
        #expect(error?.code == "captureMalformed")
        #expect(error?.reason.contains(" \(place): ") == true)
    }

    @Test(arguments: ["", "x", "GET", "HTTP/1.1", "HTTP/1.1 99999999999999999999 x", "\u{0}\u{1}", "> ", "POST /x"])
    func `anything else is unknown`(text: String) {
        #expect(throws: Diagnosis.self) { try TrafficCapture(Data(text.utf8)) }
    }
}
