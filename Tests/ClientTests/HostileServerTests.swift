#if os(Linux)
    import Foundation
    import FoundationNetworking
    import LatchkeyCore
    import LatchkeyTransport
    import LatchkeyTesting
    import LatchkeyVendors
    import Testing

    @testable import Latchkey

    /// Input that crashes FoundationNetworking, or never ends (findings S2 and S3): a readable error, within time and limits.
    @Suite(.timeLimit(.minutes(5))) struct HostileServerTests {
        private let transport = CurlTransport()

        private func failure(
            _ action: LoopbackServer.Action, limit: Int = 100_000, timeout: TimeInterval = 30
        ) async throws -> TransportError? {
            let server = try LoopbackServer { _, _ in action }
            return await transport.failure(URLRequest(url: server.url(), timeoutInterval: timeout), limit: limit)
        }

        @Test(arguments: [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Ty", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nA: b", "HTTP/1.1 302 Found\r\nLocation: /nex",
            "HTTP/1.1 307 Temporary Redirect\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", "HTTP/1.1 100 Continue\r\n\r\n",
        ])
        func `a connection that ends before the reply is connectionLost`(_ text: String) async throws {
            #expect(try await failure(.send(text))?.kind == .connectionLost)
        }

        @Test(arguments: ["HTTP/1.1 200", "HTT", "H"])
        func `a truncated status line is an error`(_ text: String) async throws {
            let kind = try await failure(.send(text))?.kind
            #expect(kind == .connectionLost || kind == .replyMalformed)
        }

        @Test(arguments: [
            "hello", "\r\n\r\n", "ICY 200 OK\r\n\r\n", "<html>", "HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        ])
        func `invalid HTTP is replyMalformed`(_ text: String) async throws {
            #expect(try await failure(.send(text))?.kind == .replyMalformed)
        }

        @Test(arguments: ["100001", "9223372036854775807", "9223372036854775808", "18446744073709551616"])
        func `a stated length beyond the limit is refused before the body is read`(_ length: String) async throws {
            let error = try await failure(.begin("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"))
            #expect(error?.kind == .bodyTooLarge && error?.reason == "The reply is larger than 100000 bytes.")
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"),
            ("HTTP/1.1 200 OK\r\n\r\n", "a"), ("HTTP/1.1 403 No\r\nConnection: close\r\n\r\n", "a\n"),
            ("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", "a"),
        ])
        func `an endless body ends at the limit`(_ head: String, _ piece: String) async throws {
            #expect(try await failure(.endless(head, piece: piece))?.kind == .bodyTooLarge)
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\n", "X-A: 1\r\n"),
            ("HTTP/1.1 200 OK\r\n", "X-A: \(String(repeating: "a", count: 8_000))\r\n"),
            ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), ("HTTP/1.1 200 OK\r\nX-A: ", "a"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", "X-A: 1\r\n"),
        ])
        func `an endless head and endless trailers end at their limit`(_ head: String, _ piece: String) async throws {
            let error = try await failure(.endless(head, piece: piece))
            #expect(error?.kind == .headTooLarge && error?.isRetryable == false)
        }

        @Test func `100,000 header fields are refused`() async throws {
            let fields = (0..<100_000).map { "X-\($0): \($0)\r\n" }.joined()
            #expect(try await failure(.send("HTTP/1.1 200 OK\r\n\(fields)\r\n"))?.kind == .headTooLarge)
        }

        @Test func `a trailer replaces no field`() async throws {
            let server = try LoopbackServer { _, _ in
                .send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n1\r\na\r\n0\r\nX-A: 2\r\nX-B: 3\r\n\r\n"
                )
            }
            let reply = try await transport.send(URLRequest(url: server.url()))
            #expect(reply.body == Data("a".utf8) && reply.header("x-a") == "1" && reply.header("x-b") == nil)
        }

        @Test func `fields of an interim reply are dropped, and a folded field is one`() async throws {
            let server = try LoopbackServer { _, _ in
                .send(
                    "HTTP/1.1 103 Hints\r\nX-A: 0\r\n\r\nHTTP/1.1 200 OK\r\nX-B: 1,\r\n  2\r\nContent-Length: 0\r\n\r\n"
                )
            }
            let reply = try await transport.send(URLRequest(url: server.url()))
            #expect(reply.status == 200 && reply.header("x-a") == nil && reply.header("x-b") == "1, 2")
        }

        /// 300,000 zeros, in 325 bytes.
        private static let bomb = Data(
            base64Encoded: """
                H4sIAAAAAAACA+3BAQ0AAADCoPdPbQ8HFAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                AAAAAAAAAAAAAAAAAAAA/Bj74rL24JMEAA==
                """, options: .ignoreUnknownCharacters)

        @Test func `a compressed body is unchanged`() async throws {
            let bomb = try #require(Self.bomb)
            let server = try LoopbackServer { request, _ in
                #expect(!request.lowercased().contains("accept-encoding"))
                return .bytes(
                    Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n".utf8)
                        + bomb)
            }
            #expect(try await transport.send(URLRequest(url: server.url()), bodyLimit: 1_000).body == bomb)
        }

        @Test func `a transfer-compressed body does not grow beyond the limit`() async throws {
            let bomb = try #require(Self.bomb)
            let head = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n".utf8)
            #expect(try await failure(.bytes(head + bomb))?.kind == .bodyTooLarge)
        }

        @Test(arguments: ["", "HTTP/1.1 200 OK\r\nX-A: ", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"])
        func `a server that falls silent is timedOut while the client sleeps`(_ text: String) async throws {
            let server = try LoopbackServer { _, _ in .begin(text) }
            let client = CurlClient()
            let request = URLRequest(url: server.url(), timeoutInterval: 5)
            let error = await #expect(throws: TransportError.self) { try await client.send(request, bodyLimit: 1_000) }
            #expect(error?.kind == .timedOut && error?.reason == "The server did not answer within 5 s.")
            await server.clientGone()
            #expect(client.turns < 40, "\(client.turns) turns of the client's thread")
        }

        @Test func `a body that never ends is timedOut, however fast it arrives`() async throws {
            var configuration = CurlConfiguration()
            configuration.longestExchange = .milliseconds(300)
            let client = CurlClient(configuration)
            let server = try LoopbackServer { _, _ in
                .endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", piece: "1\r\na\r\n")
            }
            let request = URLRequest(url: server.url())
            let error = await #expect(throws: TransportError.self) { try await client.send(request, bodyLimit: .max) }
            #expect(error?.kind == .timedOut)
        }

        @Test func `a hostile server does not block another`() async throws {
            let hostile = try LoopbackServer { _, _ in .hang }
            let honest = try LoopbackServer { _, _ in LoopbackServer.reply("200 OK", body: "ok") }
            let waiting = (0..<20).map { _ in
                Task { [transport] in try await transport.send(URLRequest(url: hostile.url(), timeoutInterval: 30)) }
            }
            for _ in 0..<20 {
                #expect(try await transport.send(URLRequest(url: honest.url())).body == Data("ok".utf8))
            }
            for task in waiting {
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }

        @Test func `the loader answers its player whatever the service does`() async throws {
            let server = try LoopbackServer { request, _ in
                request.hasPrefix("GET")
                    ? LoopbackServer.reply("200 OK", body: SampleBytes.certificate.base64EncodedString())
                    : .send("HTTP/1.1 200 OK\r\nContent-Le")
            }
            let profile = VendorProfile.cloudDRM
                .with(["certificateURL": server.url("/c").absoluteString, "brandGuid": "b"])
            var configuration = LoaderConfiguration(hosts: HostPolicy(loopback: .http))
            configuration.retry = .never
            let loader = ContentKeyLoader(
                profile.unchecked, credentials: .fixed(.token(token)), configuration: configuration)
            let request = FakeKeyRequest(KeyURI("skd://127.0.0.1:\(server.port)/license?KID=1"))
            loader.answer(request)
            #expect(await request.firstAnswer().error?.code == "connectionLost")
        }
    }
#endif
