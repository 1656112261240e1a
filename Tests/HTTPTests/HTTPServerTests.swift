import Foundation
import LatchkeyHTTP
import LatchkeyTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct HTTPServerTests {
    @Test func `a handler sees method, target, query, headers, body and address as sent`() async throws {
        let seen = Seen()
        try await withServer(answering: { request in
            await seen.note(request)
            return .text("ok")
        }) { port in
            let reply = try await fetch(port, "/a%20b/c?x=1&y=%2B+&x=2&flag") {
                $0.httpMethod = "PUT"
                $0.httpBody = Data("body".utf8)
                $0.setValue("one", forHTTPHeaderField: "X-Thing")
            }
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(reply.body == Data("ok".utf8))
        }
        let request = try #require(await seen.requests.first)
        #expect(request.method == "PUT")
        #expect(request.target == "/a%20b/c?x=1&y=%2B+&x=2&flag")
        #expect(request.path == "/a b/c")
        #expect(request.queryItems.map(\.name) == ["x", "y", "x", "flag"])
        #expect(request.queryItems.map(\.value) == ["1", "++", "2", nil])
        #expect(request.headers["x-thing"] == "one")
        #expect(request.body == Data("body".utf8))
        #expect(request.remoteAddress == "127.0.0.1")
    }

    @Test func `200 requests are answered though none is before all have arrived`() async throws {
        let gate = Gate(opensAt: 200)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 200
        let session = URLSession(configuration: configuration)
        try await withServer(answering: { request in
            await gate.wait()
            return .text(request.queryValue("n") ?? "")
        }) { port in
            let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    let url = try #require(URL(string: "http://127.0.0.1:\(port)/?n=\(number)"))
                    group.addTask { try await session.data(from: url).0 == Data("\(number)".utf8) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 200)
            #expect(answers.allSatisfy { $0 })
        }
    }

    @Test func `one connection carries several exchanges`() async throws {
        try await withServer(answering: { .text($0.path) }) { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /one HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await connection.readReply().hasSuffix("/one"))
            connection.send("POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            #expect(await connection.readReply().hasSuffix("/two"))
        }
    }

    @Test func `pipelined requests are answered in order`() async throws {
        try await withServer(answering: { .text($0.path) }) { port in
            let connection = try RawConnection(port: port)
            connection.send(
                "GET /one HTTP/1.1\r\nHost: a\r\n\r\nGET /two HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = await connection.readToEnd().text
            let first = try #require(text.range(of: "/one"))
            let second = try #require(text.range(of: "/two"))
            #expect(first.upperBound < second.lowerBound)
        }
    }

    @Test func `a HEAD request gets the length and no body`() async throws {
        try await withServer(answering: { _ in .text("twelve bytes") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = await connection.readToEnd().text
            #expect(text.contains("Content-Length: 12\r\n"))
            #expect(text.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func `a chunked body arrives whole`() async throws {
        try await withServer(answering: { HTTPResponse(status: 200, contentType: "text/plain", bytes: $0.body) }) {
            port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            #expect(await connection.readReply().hasSuffix("\r\n\r\nabcde"))
        }
    }

    @Test func `a reset ends the connection without a reply`() async throws {
        try await withServer(answering: { _ in .reset }) { port in
            let connection = try RawConnection(port: port)
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            let (text, ending) = await connection.readToEnd()
            #expect(text.isEmpty)
            #expect(ending == .reset)
        }
    }

    @Test func `a line end in a header field does not split the reply`() async throws {
        try await withServer(answering: { _ in
            HTTPResponse(status: 200, headers: ["X-Evil": "a\r\nSet-Cookie: b", "X-Good": "c"])
        }) { port in
            let reply = try await fetch(port, "/")
            #expect(reply.headers["set-cookie"] == nil)
            #expect(reply.headers["x-good"] == "c")
        }
    }

    @Test(arguments: [
        "\0\u{1}\u{2}garbage\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nno colon here\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}",
    ])
    func `after a malformed request the server still answers others`(_ text: String) async throws {
        try await withServer({ $0.idleTimeout = .seconds(1) }, answering: { _ in .text("fine") }) { port in
            let connection = try RawConnection(port: port)
            connection.send(text)
            connection.finishSending()
            let answer = await connection.readToEnd()
            #expect(answer.ending != .silent)
            #expect(!answer.text.contains("fine"))
            let body = try await fetch(port, "/").body
            #expect(body == Data("fine".utf8))
        }
    }

    @Test(arguments: [0, 1, 20, 60, 90])
    func `a client that leaves at any byte does no harm`(_ count: Int) async throws {
        let request =
            "POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + String(repeating: "x", count: 100)
        try await withServer(answering: { _ in .text("fine") }) { port in
            for _ in 0..<20 { try RawConnection(port: port).send(String(request.prefix(count))) }
            let body = try await fetch(port, "/").body
            #expect(body == Data("fine".utf8))
        }
    }

    @Test func `a client that leaves while its request is answered does no harm`() async throws {
        let gate = Gate()
        try await withServer(answering: { request in
            if request.path == "/wait" { await gate.wait() }
            return HTTPResponse(status: 200, contentType: "text/plain", bytes: Data(repeating: 1, count: 100_000))
        }) { port in
            try RawConnection(port: port).send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            await gate.untilSomeoneArrives()
            gate.open()
            let body = try await fetch(port, "/").body
            #expect(body.count == 100_000)
        }
    }
}

/// Collects requests.
actor Seen {
    private(set) var requests: [HTTPRequest] = []
    func note(_ request: HTTPRequest) { requests.append(request) }
}
