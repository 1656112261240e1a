#if os(Linux)
    import Foundation
    import FoundationNetworking
    import Latchkey
    import LatchkeyCore
    import LatchkeyHTTP
    import LatchkeyTesting
    import LatchkeyVendors
    import Testing

    /// Each kind of TLS failure has its own error kind, and a remedy.
    @Suite(.enabled(if: TestAuthority.isThere, "needs openssl"), .timeLimit(.minutes(5)))
    struct TLSErrorTests {
        private func kind(
            of host: String, names: String = "IP:127.0.0.1,DNS:localhost", days: Int = 2, trusting: Bool,
            scheme: String = "https"
        ) async throws -> TransportError? {
            let folder = try TemporaryFolder()
            let authority = try TestAuthority(in: folder, names: names, days: days)
            var configuration = HTTPServerConfiguration()
            configuration.tls = .init(
                certificate: try String(contentsOf: URL(filePath: authority.server), encoding: .utf8),
                privateKey: try String(contentsOf: URL(filePath: authority.serverKey), encoding: .utf8))
            let server = HTTPServer(configuration) { _ in .text("hello") }
            let port = try server.start()
            let transport = CurlTransport(authorities: trusting ? URL(filePath: authority.certificate) : nil)
            let request = URLRequest(url: try #require(URL(string: "\(scheme)://\(host):\(port)/?token=secret")))
            let result = await Result { try await transport.send(request, bodyLimit: 100) }
            await server.stop()
            switch result {
            case .success(let reply):
                #expect(reply.status == 200 && reply.body == Data("hello".utf8))
                return nil
            case .failure(let error):
                #expect(!"\(error)".contains("secret"))
                return try #require(error as? TransportError)
            }
        }

        @Test func `a file of authorities makes its server trusted`() async throws {
            #expect(try await kind(of: "127.0.0.1", trusting: true) == nil)
            #expect(try await kind(of: "localhost", trusting: true) == nil)
        }

        @Test func `an unknown authority is serverCertificateUntrusted`() async throws {
            let error = try #require(try await kind(of: "127.0.0.1", trusting: false))
            #expect(error.kind == .serverCertificateUntrusted && !error.isRetryable)
            #expect(error.reason.contains("is not from a trusted authority") && error.remedy.contains("trust"))
        }

        @Test func `a certificate for another name is serverNameMismatch`() async throws {
            let error = try #require(try await kind(of: "127.0.0.1", names: "DNS:other.example", trusting: true))
            #expect(error.kind == .serverNameMismatch && error.reason.contains("is for another host name"))
        }

        @Test func `an expired certificate is serverCertificateExpired`() async throws {
            let error = try #require(try await kind(of: "127.0.0.1", days: -1, trusting: true))
            #expect(error.kind == .serverCertificateExpired && error.reason.contains("has expired"))
        }

        @Test func `http on an https port is an error of the connection or of the reply`() async throws {
            let error = try #require(try await kind(of: "127.0.0.1", trusting: true, scheme: "http"))
            #expect([.connectionLost, .replyMalformed].contains(error.kind))
        }
    }
#endif
