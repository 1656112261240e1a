import LatchkeyHTTP
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct RouterTests {
    @Test(arguments: [
        ("/license", "/license", [:]), ("/license", "/license/", [:]), ("/license", "//license", [:]),
        ("/license", "/licenses", nil), ("/license", "/license/1", nil), ("/license", "/", nil), ("/", "/", [:]),
        ("/a/{x}/c", "/a/b/c", ["x": "b"]), ("/a/{x}/c", "/a//c", nil), ("/a/{x}/c", "/a/b/c/d", nil),
        ("/keys/{id}.der", "/keys/7.der", ["id": "7"]), ("/keys/{id}.der", "/keys/.der", nil),
        ("/keys/{id}.der", "/keys/7.pem", nil), ("/keys/key-{id}", "/keys/key-7", ["id": "7"]),
        ("/{t}/of/{t}", "/a/of/a", ["t": "a"]), ("/{t}/of/{t}", "/a/of/b", nil),
        ("/a/{rest...}", "/a", ["rest": ""]), ("/a/{rest...}", "/a/b/c", ["rest": "b/c"]), ("/a/{rest...}", "/b", nil),
        ("/a/{open", "/a/{open", [:]),
    ])
    func `a pattern matches its paths and names their segments`(
        _ pattern: String, _ path: String, _ expected: [String: String]?
    ) {
        let parameters = PathPattern(pattern).match(path)
        #expect((parameters == nil) == (expected == nil))
        for (name, value) in expected ?? [:] { #expect(parameters?[name] == value) }
    }

    @Test(arguments: [
        ("GET", "/key/7", 200, "read 7", nil), ("HEAD", "/key/7", 200, "read 7", nil),
        ("POST", "/key/7", 200, "made 7", nil),
        ("PUT", "/key/7", 405, "", "GET, HEAD, POST"), ("OPTIONS", "/key/7", 405, "", "GET, HEAD, POST"),
        ("get", "/key/7", 405, "", "GET, HEAD, POST"), ("GET", "/keys", 404, "There is no such path.", nil),
    ])
    func `path and method choose the route`(
        _ method: String, _ path: String, _ status: Int, _ body: String, _ allow: String?
    ) async {
        let router = Router<HTTPHandler>([
            .get("/key/{id}") { _, path in .text("read \(path["id"])") },
            .post("/key/{id}") { _, path in .text("made \(path["id"])") },
        ])
        let reply = await router.respond(to: HTTPRequest(method: HTTPMethod(rawValue: method), target: path))
        #expect(reply.status == status)
        #expect(reply.bytes.map { String(decoding: $0, as: UTF8.self) } == body)
        #expect(reply.headers[.allow] == allow)
    }

    @Test func `the first of several routes wins, and a condition skips a route`() async {
        let router = Router<HTTPHandler>([
            .get("/{name}") { _, _ in .text("short") }.when { $0["name"].count < 3 },
            .get("/{name}") { _, _ in .text("first") },
            .get("/{name}") { _, _ in .text("second") },
        ])
        for (path, body) in [("/ab", "short"), ("/abc", "first")] {
            let reply = await router.respond(to: HTTPRequest(method: .get, target: path))
            #expect(reply == .text(body))
        }
    }

    @Test func `header field names ignore case`() {
        #expect(HTTPHeaderName.contentType == "content-TYPE")
        #expect(Set<HTTPHeaderName>(["A-b", "a-B", "c"]).count == 2)
        #expect(HTTPHeaderName.contentType != "content-typ")
    }
}
