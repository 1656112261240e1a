import Foundation
import LatchkeyCore
import LatchkeyHTTP
import TLSPeer
import Testing

/// A running server that gets another certificate.
@Suite(.timeLimit(.minutes(5)))
struct HTTPServerTLSReplacementTests {
    private static let request = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Runs a server of a certificate while a test runs.
    private func withServer(
        _ first: SelfSigned?, _ body: (HTTPServer, UInt16) async throws -> Void
    ) async throws {
        var configuration = HTTPServerConfiguration.patient
        configuration.tls = first?.tls
        let server = HTTPServer(configuration) { .text($0.path) }
        let port = try server.start()
        do { try await body(server, port) } catch {
            await server.stop(within: .zero)
            throw error
        }
        await server.stop(within: .zero)
    }

    private func ask(_ connection: TLSConnection) async throws -> Bool {
        try await connection.ask(Self.request, until: "/hello").hasPrefix("HTTP/1.1 200 OK\r\n")
    }

    @Test func `new connections see the new certificate, and open ones stay`() async throws {
        let (first, second) = (try SelfSigned(), try SelfSigned())
        try await withServer(first) { server, port in
            let old = try await TLSConnection.open(port)
            #expect(old.certificate == first.der)
            #expect(try await ask(old))
            try server.replaceTLS(second.tls)
            let new = try await TLSConnection.open(port)
            #expect(new.certificate == second.der)
            #expect(try await ask(new))
            #expect(try await ask(old))
        }
    }

    @Test func `a restarted server shows the new certificate`() async throws {
        let (first, second) = (try SelfSigned(), try SelfSigned())
        try await withServer(first) { server, _ in
            await server.stop()
            try server.replaceTLS(second.tls)
            #expect(try await TLSConnection.open(server.start()).certificate == second.der)
        }
    }

    @Test func `a key of another certificate, and invalid text, leave the old one in force`() async throws {
        let (first, second) = (try SelfSigned(), try SelfSigned())
        try await withServer(first) { server, port in
            let wrong: [HTTPServerConfiguration.TLS] = [
                .init(certificate: second.certificate, privateKey: first.privateKey),
                .init(certificate: second.certificate, privateKey: "do-not-show-me"),
                .init(certificate: "no certificate", privateKey: second.privateKey),
                .init(certificate: "", privateKey: ""),
            ]
            for tls in wrong {
                let error = #expect(throws: Diagnosis.self) { try server.replaceTLS(tls) }
                #expect(error?.code == "httpTLS")
                #expect("\(String(describing: error))".contains("do-not-show-me") == false)
            }
            let connection = try await TLSConnection.open(port)
            #expect(connection.certificate == first.der)
            #expect(try await ask(connection))
        }
    }

    @Test func `a server of plain HTTP takes no certificate`() async throws {
        let identity = try SelfSigned()
        try await withServer(nil) { server, port in
            let error = #expect(throws: Diagnosis.self) { try server.replaceTLS(identity.tls) }
            #expect(error?.code == "httpTLS")
            server.use(try TLSIdentity(identity.tls))
            let connection = try RawConnection(port: port)
            connection.send(Self.request)
            #expect(await connection.readReply().hasSuffix("/hello"))
        }
    }

    @Test func `a hundred replacements during handshakes do no harm`() async throws {
        let identities = try (0..<4).map { _ in try SelfSigned() }
        try await withServer(identities[0]) { server, port in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    var count = 0
                    while count < 100 || !Task.isCancelled {
                        count += 1
                        try server.replaceTLS(identities[count % 4].tls)
                        await Task.yield()
                    }
                }
                try await withThrowingTaskGroup { clients in
                    for _ in 0..<6 {
                        clients.addTask {
                            for _ in 0..<25 {
                                let connection = try await TLSConnection.open(port)
                                #expect(identities.contains { $0.der == connection.certificate })
                                #expect(try await ask(connection))
                            }
                        }
                    }
                    try await clients.waitForAll()
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test func `a replaced certificate is kept while a connection has it`() async throws {
        let (first, second) = (try SelfSigned(), try SelfSigned())
        try await withServer(first) { server, port in
            weak var replaced: TLSIdentity?
            do {
                let identity = try TLSIdentity(first.tls)
                replaced = identity
                server.use(identity)
            }
            var connection: TLSConnection? = try await TLSConnection.open(port)
            #expect(connection?.certificate == first.der)
            try server.replaceTLS(second.tls)
            #expect(replaced != nil)
            connection = nil
            try await until { replaced == nil }
        }
    }

    @Test func `an identity has its certificate's dates and name`() throws {
        let identity = try SelfSigned(days: -3)
        let read = try TLSIdentity(identity.tls)
        #expect(read.notAfter < Date() && read.notBefore < read.notAfter)
        #expect(read.sha1.count == 40)
    }
}

extension SelfSigned {
    var tls: HTTPServerConfiguration.TLS { .init(certificate: certificate, privateKey: privateKey) }
}
