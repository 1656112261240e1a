#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeyHTTP
    import LatchkeyTransport
    import TLSPeer
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Strangers at the proxy of Examples, which readers copy: alone, and behind proxies that send many viewers' requests over one connection.
    @Suite(.enabled(if: PythonRun.isThere, "Python is not there"), .timeLimit(.minutes(5)))
    struct LicenseProxyTests {
        /// The slots and the license service of the proxy. Their replies name the viewer and the request.
        private final class Services: Sendable {
            let asked = Locked<[HTTPRequest]>([])
            private let server: HTTPServer
            let proxy: PythonService
            let port: UInt16

            init() async throws {
                let asked = asked
                server = HTTPServer { request in
                    asked.withLock { $0.append(request) }
                    guard request.path == "/slots" else {
                        return .text("license for " + String(decoding: request.body, as: UTF8.self))
                    }
                    let token = request.headers[.authorization] ?? "nobody"
                    return HTTPResponse(
                        contentType: "application/json",
                        bytes: Data(#"{"state":"taken","heartbeatToken":"of \#(token)"}"#.utf8))
                }
                let url = "http://127.0.0.1:\(try server.start())"
                let key = FileManager.default.temporaryDirectory.appending(path: "slots-key-\(UUID()).txt")
                try Data("key".utf8).write(to: key)
                proxy = try await PythonService([
                    PythonRun.file("Examples/Proxy/license-proxy.py"), "--port", "0", "--drm", "widevine", "--key",
                    key.path, "--slots", "\(url)/slots", "--service", "\(url)/license",
                ])
                try FileManager.default.removeItem(at: key)
                port = UInt16(URL(string: proxy.url)?.port ?? 0)
            }

            /// Whether a text came to the slots or to the service.
            func saw(_ text: String) -> Bool {
                asked.withLock { asked in
                    asked.contains {
                        "\($0.headers) \($0.target) \(String(decoding: $0.body, as: UTF8.self))".contains(text)
                    }
                }
            }
        }

        private static func post(_ url: String, _ body: String, as viewer: String) async throws -> HTTPReply {
            var request = URLRequest(url: try #require(URL(string: url)))
            (request.httpMethod, request.timeoutInterval) = ("POST", 900)
            request.httpBody = Data(body.utf8)
            request.setValue("Bearer \(viewer)", forHTTPHeaderField: "Authorization")
            return try await SystemTransport().send(request, bodyLimit: 1 << 20)
        }

        @Test(.enabled(if: FrontProxy.Kind.areThere, "\(FrontProxy.whyNot)"), arguments: FrontProxy.Kind.allCases)
        func `a body never becomes another viewer's request behind a pooling proxy`(_ kind: FrontProxy.Kind)
            async throws
        {
            let services = try await Services()
            let front = try await FrontProxy(kind, to: [services.port])
            func expectOwnLicense() async throws {
                let reply = try await Self.post("\(front.url)/license?kid=1", "victim's challenge", as: "VICTIM")
                #expect(reply.status == 200)
                #expect(String(decoding: reply.body, as: UTF8.self) == "license for victim's challenge")
                #expect(reply.header("X-Latchkey-Heartbeat-Token") == "of Bearer VICTIM")
            }
            try await expectOwnLicense()
            // The head of a request whose body is the beginning of the next viewer's request.
            let hidden =
                "POST /license?kid=2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer STRANGER\r\nContent-Length: 60\r\n\r\n"
            for path in ["/elsewhere", "/license%20", "/"] {
                #expect(try await Self.post(front.url + path, hidden, as: "STRANGER").status == 404)
                for _ in 0..<3 { try await expectOwnLicense() }
            }
            #expect(!services.saw("STRANGER"))
        }

        @Test func `no ambiguous request hides another one`() async throws {
            let services = try await Services()
            // Half a line, for which it waits.
            for shape in RequestShape.refused where shape.name != "a TLS hello" {
                for path in [RequestShape.path, "/license"] {
                    var bytes = shape.bytes
                    if let place = bytes.firstRange(of: Data(RequestShape.path.utf8)) {
                        bytes.replaceSubrange(place, with: Data(path.utf8))
                    }
                    let reply = try await RawExchange.run(bytes, port: services.port)
                    let interim = String(decoding: reply.bytes, as: UTF8.self).components(separatedBy: "HTTP/1.1 100 ")
                    #expect(reply.headCount <= interim.count, "\(shape)")
                }
            }
            #expect(!services.saw("smuggled"))
        }
    }
#endif
