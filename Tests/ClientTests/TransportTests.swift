import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Against real sockets on loopback.
@Suite(.timeLimit(.minutes(5))) struct TransportTests {

    @Test(arguments: TransportUnderTest.all)
    func `sends method, header fields and body, and returns status, header fields and body`(
        _ transport: TransportUnderTest
    ) async throws {
        let server = try LoopbackServer { _, _ in
            LoopbackServer.reply("418 Teapot", ["X-Request-Id: r-1"], body: "short")
        }
        var request = URLRequest(url: server.url("/a%20b?q=%2F"))
        request.httpMethod = "POST"
        request.setValue("t", forHTTPHeaderField: "x-vudrm-token")
        request.httpBody = Data("body".utf8)
        let reply = try await transport.send(request)
        #expect(reply.status == 418 && reply.header("x-request-id") == "r-1" && reply.body == Data("short".utf8))
        #expect(reply.url == server.url("/a%20b?q=%2F"))
        let sent = try #require(server.requests.first)
        #expect(sent.hasPrefix("POST /a%20b?q=%2F HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\nbody"))
        #expect(sent.lowercased().contains("\r\nx-vudrm-token: t\r\n"))
    }

    @Test(arguments: TransportUnderTest.all)
    func `joins a repeated header field`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, _ in
            LoopbackServer.reply("200 OK", ["X-Two: 1", "X-Two: 2", "x-mix: 1", "X-Mix: 2"])
        }
        let reply = try await transport.send(URLRequest(url: server.url()))
        #expect(reply.header("X-Two") == "1, 2")
        #expect(reply.headers.map(\.name) == reply.headers.map(\.name).sorted())
    }

    @Test(
        arguments: TransportUnderTest.all,
        ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
    func `returns a redirect without following it`(_ transport: TransportUnderTest, status: String) async throws {
        for method in ["GET", "POST"] { try await returnsRedirect(transport, status, method) }
    }

    private func returnsRedirect(_ transport: TransportUnderTest, _ status: String, _ method: String) async throws {
        let server = try LoopbackServer { _, _ in LoopbackServer.reply(status, ["Location: /next"], body: "moved") }
        var request = URLRequest(url: server.url())
        request.httpMethod = method
        request.httpBody = method == "POST" ? Data("spc".utf8) : nil
        let reply = try await transport.send(request)
        #expect(reply.status == Int(status.prefix(3)) && reply.header("location") == "/next")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func `stops a download at the limit`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, _ in .flood("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") }
        #expect(await transport.failure(URLRequest(url: server.url()), limit: 100_000)?.kind == .bodyTooLarge)
        await server.clientGone()
    }

    @Test(arguments: TransportUnderTest.all)
    func `refuses a body announced as larger than the limit`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, _ in .begin("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n") }
        // The body never arrives: only the stated length can reveal it.
        #expect(await transport.failure(URLRequest(url: server.url()), limit: 100_000)?.kind == .bodyTooLarge)
        await server.clientGone()
    }

    @Test(arguments: TransportUnderTest.all)
    func `takes a body at exactly the limit`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, _ in
            LoopbackServer.reply("200 OK", body: String(repeating: "x", count: 1_000))
        }
        #expect(try await transport.send(URLRequest(url: server.url()), bodyLimit: 1_000).body.count == 1_000)
        #expect(await transport.failure(URLRequest(url: server.url()), limit: 999)?.kind == .bodyTooLarge)
    }

    @Test(arguments: TransportUnderTest.all)
    func `keeps no cookies and no cache`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, number in
            LoopbackServer.reply(
                "200 OK", ["Set-Cookie: id=1; Path=/", "Cache-Control: max-age=3600", "ETag: \"e\""], body: "\(number)")
        }
        for number in 1...3 {
            #expect(try await transport.send(URLRequest(url: server.url())).body == Data("\(number)".utf8))
        }
        #expect(server.requests.allSatisfy { !$0.lowercased().contains("\r\ncookie:") })
        #expect(server.requests.allSatisfy { !$0.lowercased().contains("\r\nif-none-match:") })
    }

    @Test(arguments: TransportUnderTest.all)
    func `a refused connection is cannotConnect`(_ transport: TransportUnderTest) async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(try LoopbackServer.deadPort())/?token=secret"))
        let error = await #expect(throws: TransportError.self) { try await transport.send(URLRequest(url: url)) }
        #expect(error?.kind == .cannotConnect && error?.isRetryable == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: TransportUnderTest.all)
    func `an unknown host is hostNotFound`(_ transport: TransportUnderTest) async throws {
        let url = try #require(URL(string: "http://nowhere.invalid/"))
        #expect(await transport.failure(URLRequest(url: url))?.kind == .hostNotFound)
    }

    // A head that breaks off is left out: FoundationNetworking on Linux ends the process (swift-corelibs-foundation #5285).
    @Test(arguments: TransportUnderTest.all, ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"])
    func `a server that drops midway is connectionLost`(_ transport: TransportUnderTest, text: String) async throws {
        let server = try LoopbackServer { _, _ in .send(text) }
        #expect(await transport.failure(URLRequest(url: server.url()))?.kind == .connectionLost)
    }

    @Test(arguments: TransportUnderTest.all)
    func `a server without TLS is tlsFailed`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _, _ in .send("no TLS here, and never was\r\n\r\n") }
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        let kind = await transport.failure(URLRequest(url: url))?.kind
        #expect(kind == .serverWithoutTLS || kind == .tlsFailed || kind == .transportFailed)
    }

    @Test(arguments: TransportUnderTest.all)
    func `a preopened connection carries the next requests, and no credentials before`(
        _ transport: TransportUnderTest
    ) async throws {
        let server = try LoopbackServer { request, _ in
            let body = request.hasPrefix("HEAD") ? "" : "ok"
            return .keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(body)")
        }
        #expect(try await transport.warm(server.url("/license?token=secret")))
        let request = URLRequest(url: server.url("/license"))
        for _ in 1...2 { #expect(try await transport.send(request).body == Data("ok".utf8)) }
        #expect(server.connections == 1)
        #expect(server.requests.first?.hasPrefix("HEAD / HTTP/1.1\r\n") == true)
        #expect(server.requests.count == 3 && server.requests.first?.contains("secret") == false)
    }

    @Test(arguments: TransportUnderTest.all)
    func `a server that refuses HEAD is still connected to, and a dead one is an error`(
        _ transport: TransportUnderTest
    ) async throws {
        let server = try LoopbackServer { _, _ in .keep("HTTP/1.1 405 No\r\nContent-Length: 99999999\r\n\r\n") }
        #expect(try await transport.warm(server.url()))
        let dead = try #require(URL(string: "http://127.0.0.1:\(try LoopbackServer.deadPort())/"))
        await #expect(throws: TransportError.self) { try await transport.warm(dead) }
    }

    @Test(arguments: TransportUnderTest.all)
    func `a key comes over a real connection`(_ transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request, _ in
            request.hasPrefix("GET")
                ? LoopbackServer.reply("200 OK", body: SampleBytes.certificate.base64EncodedString())
                : LoopbackServer.reply("200 OK", body: #"{"ckc":"\#(SampleBytes.ckc().base64EncodedString())"}"#)
        }
        let profile = VendorProfile.cloudDRM.with(["certificateURL": server.url("/c").absoluteString, "brandGuid": "b"])
        let configuration = LoaderConfiguration(hosts: HostPolicy(loopback: .http))
        let loader = ContentKeyLoader(
            profile.unchecked, credentials: .fixed(.token(token)), configuration: configuration, transport: transport)
        let request = FakeKeyRequest(KeyURI("skd://127.0.0.1:\(server.port)/license?KID=1"))
        loader.answer(request)
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
        #expect(server.requests.count == 2)
    }
}
