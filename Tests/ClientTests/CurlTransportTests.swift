#if os(Linux)
    import Foundation
    import FoundationNetworking
    import LatchkeyCore
    import LatchkeyTesting
    import LatchkeyVendors
    import Testing

    @testable import Latchkey
    @testable import LatchkeyTransport

    @Suite(.timeLimit(.minutes(5))) struct CurlTransportTests {
        private let transport = CurlTransport()

        private func request(_ url: URL, _ fields: [String: String] = [:], method: String = "GET") -> URLRequest {
            var request = URLRequest(url: url)
            request.httpMethod = method
            // `setValue` leaves out fields with a line break; this does not.
            request.allHTTPHeaderFields = fields
            return request
        }

        @Test func `an exiting program ends its connections before exit handlers of libraries`() async throws {
            let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                // Registered first, and so called last, as OpenSSL's.
                atexit { if CurlLoop.isAnyRunning { _ = write(STDERR_FILENO, "a loop runs", 11) } }
                let server = try LoopbackServer { _, _ in .hang }
                let asking = Task { try await CurlTransport().send(URLRequest(url: server.url()), bodyLimit: 1) }
                while server.requests.isEmpty { await Task.yield() }
                withExtendedLifetime(asking) { exit(EXIT_SUCCESS) }
            }
            let said = String(decoding: try #require(end).standardErrorContent, as: UTF8.self)
            #expect(!said.contains("a loop runs"), "\(said)")
        }

        @Test(arguments: ["a\r\nX-B: c", "a\nb", "a\rb", "a\u{0}b", "a\u{7f}"])
        func `a header field that would split in two is neither sent nor shown`(_ value: String) async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            let error = await transport.failure(request(server.url(), ["X-Token": value]))
            #expect(error?.kind == .requestMalformed && error?.reason.contains("X-Token") == true)
            #expect(error?.description.contains(value) == false && server.connections == 0)
        }

        @Test(arguments: ["G ET", "GET\r\nX-A: b", ""])
        func `an invalid method is not sent`(_ method: String) async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            let error = await transport.failure(request(server.url(), method: method))
            // Foundation itself makes some of them GET.
            #expect(error == nil || error?.kind == .requestMalformed)
            #expect(server.requests.allSatisfy { $0.hasPrefix("GET / HTTP/1.1\r\n") && !$0.contains("X-A") })
        }

        // If two readers of a URL differ, a policy checks one host, and the token goes to another.
        @Test(arguments: [
            "http://127.1:9/", "http://2130706433:9/", "http://0x7f000001:9/", "http://0177.0.0.1:9/",
            "http://127.0.0.1%2f.example:9/", "ftp://127.0.0.1/", "file:///etc/passwd", "http:///x",
        ])
        func `an URL with an ambiguous host or another scheme than http is not requested`(_ text: String) async throws {
            let url = try #require(URL(string: text))
            #expect(await transport.failure(request(url))?.kind == .requestMalformed)
        }

        @Test func `path and query are sent as written`() async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            _ = try await transport.send(request(server.url("/a/../b/./c%2Fd?x=%41&y=a+b#part")))
            #expect(server.requests.first?.hasPrefix("GET /a/../b/./c%2Fd?x=%41&y=a+b HTTP/1.1\r\n") == true)
        }

        @Test(arguments: [
            ("PUT", "body"), ("DELETE", nil), ("POST", ""), ("POST", nil), ("PATCH", "x"), ("GET", "body"),
        ])
        func `every method carries its body, with its length`(_ method: String, _ body: String?) async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            var request = request(server.url(), method: method)
            request.httpBody = body.map { Data($0.utf8) }
            #expect(try await transport.send(request).status == 200)
            let sent = try #require(server.requests.first)
            #expect(sent.hasPrefix("\(method) / HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\n\(body ?? "")"))
            #expect(
                sent.lowercased().contains("\r\ncontent-length: \(body?.utf8.count ?? 0)\r\n")
                    == (body != nil || method == "POST"))
        }

        @Test func `a long body is sent immediately and whole`() async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            var request = request(server.url(), method: "POST")
            request.httpBody = Data(repeating: 0x61, count: 2_000_000)
            _ = try await transport.send(request)
            let sent = try #require(server.requests.first)
            #expect(sent.utf8.count > 2_000_000 && !sent.lowercased().contains("\r\nexpect:"))
        }

        @Test func `an empty header field is sent empty`() async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            _ = try await transport.send(request(server.url(), ["X-Empty": ""]))
            #expect(server.requests.first?.contains("\r\nX-Empty:\r\n") == true)
        }

        // A token may be good for one request only.
        @Test func `a sent request is not repeated when a kept connection ends`() async throws {
            let server = try LoopbackServer { _, number in
                number == 1 ? .keep("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") : .send("")
            }
            var request = request(server.url(), method: "POST")
            request.httpBody = Data("spc".utf8)
            #expect(try await transport.send(request).status == 200)
            #expect(await transport.failure(request)?.kind == .connectionLost)
            #expect(server.requests.count == 2)
        }

        @Test func `errors name the host, but neither path nor query`() async throws {
            let port = try LoopbackServer.deadPort()
            let refused = await transport.failure(
                request(try #require(URL(string: "http://127.0.0.1:\(port)/p?token=s"))))
            #expect(refused?.reason == "127.0.0.1:\(port) refuses connections: nothing listens there (curl 7).")
            let unknown = await transport.failure(
                request(try #require(URL(string: "http://nowhere.invalid/p?token=s"))))
            #expect(unknown?.reason == "The host of nowhere.invalid:80 is unknown (curl 6).")
        }

        /// libmicrohttpd does not answer a TLS client whose random bytes have no blank before the end of a line.
        @Test func `a server that closes during the handshake may speak http`() async throws {
            let server = try LoopbackServer { _, _ in .send("") }
            let error = await transport.failure(request(try #require(URL(string: "https://127.0.0.1:\(server.port)/"))))
            #expect(error?.kind == .tlsFailed)
            #expect(
                error?.reason
                    == "127.0.0.1:\(server.port) ended the connection before TLS was established; "
                    + "the port may be one for http (curl 35).")
        }

        @Test func `a plain http port differs from an untrusted certificate`() async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("400 Bad Request", body: "no TLS") }
            let error = await transport.failure(request(try #require(URL(string: "https://127.0.0.1:\(server.port)/"))))
            #expect(
                error?.kind == .serverWithoutTLS
                    && error?.reason == "127.0.0.1:\(server.port) does not speak TLS (curl 35).")
        }

        @Test func `an invalid CA file is reported`() async throws {
            let server = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK") }
            let trusting = CurlTransport(authorities: URL(filePath: "/nowhere/authorities.pem"))
            let error = await trusting.failure(request(try #require(URL(string: "https://127.0.0.1:\(server.port)/"))))
            #expect(error?.kind == .tlsFailed && error?.reason.contains("file of trusted authorities") == true)
        }

        @Test func `the client's thread ends with the transport`() async throws {
            let server = try LoopbackServer { _, _ in .keep("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
            var transport: CurlTransport? = CurlTransport()
            _ = try await transport?.send(request(server.url()))
            let other = try LoopbackServer { _, _ in .hang }
            let waiting = Task { [weak transport] in try await transport?.send(URLRequest(url: other.url())) }
            waiting.cancel()
            _ = await waiting.result
            weak let gone = transport
            transport = nil
            #expect(gone == nil)
        }
    }
#endif
