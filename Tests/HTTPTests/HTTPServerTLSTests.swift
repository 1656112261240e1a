import Foundation
import LatchkeyCore
import LatchkeyHTTP
import Testing

@Suite(.enabled(if: OpenSSLTool.isThere, "needs the openssl command line"), .timeLimit(.minutes(5)))
struct HTTPServerTLSTests {
    @Test func `a client that trusts the certificate gets its answer`() async throws {
        let identity = try await OpenSSLTool.identity()
        defer { try? FileManager.default.removeItem(at: identity.folder) }
        try await withServer({ $0.tls = identity.tls }, answering: { .text("hello \($0.path)") }) { port in
            let output = try await OpenSSLTool.exchange(
                "GET /tls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", with: identity, port: port)
            #expect(output.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(output.hasSuffix("hello /tls"))
        }
    }

    @Test func `a plain request to a TLS port is not answered`() async throws {
        let identity = try await OpenSSLTool.identity()
        defer { try? FileManager.default.removeItem(at: identity.folder) }
        try await withServer({ $0.tls = identity.tls }, answering: { _ in .text("hello") }) { port in
            let connection = try RawConnection(port: port)
            connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let text = await connection.readToEnd().text
            #expect(!text.contains("hello"))
        }
    }

    @Test func `an invalid key is refused without showing it`() throws {
        var configuration = HTTPServerConfiguration()
        configuration.tls = .init(certificate: "no certificate", privateKey: "do-not-show-me")
        let error = #expect(throws: Diagnosis.self) { try HTTPServer(configuration) { _ in .text("ok") }.start() }
        #expect(error?.code == "httpTLS")
        #expect("\(String(describing: error)) \(configuration)".contains("do-not-show-me") == false)
    }
}

/// The `openssl` command, through `popen`: Foundation's `Process` crashes now and then when tests run side by side.
private enum OpenSSLTool {
    struct Identity {
        let folder: URL
        let certificate: URL
        let tls: HTTPServerConfiguration.TLS
    }

    static let path = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first(where: FileManager.default.isExecutableFile)
    static var isThere: Bool { path != nil }

    /// A self-signed certificate for `localhost`.
    static func identity() async throws -> Identity {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (certificate, key) = (folder.appendingPathComponent("c.pem"), folder.appendingPathComponent("k.pem"))
        _ = await run(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost",
            "-keyout '\(key.path)' -out '\(certificate.path)'")
        return Identity(
            folder: folder, certificate: certificate,
            tls: .init(
                certificate: try String(contentsOf: certificate, encoding: .utf8),
                privateKey: try String(contentsOf: key, encoding: .utf8)))
    }

    /// Sends a request over TLS to a server whose certificate has to be the given one.
    static func exchange(_ request: String, with identity: Identity, port: UInt16) async throws -> String {
        let file = identity.folder.appendingPathComponent("request")
        try Data(request.utf8).write(to: file)
        return await run(
            "s_client -connect 127.0.0.1:\(port) -CAfile '\(identity.certificate.path)' -verify_return_error -quiet",
            "< '\(file.path)'")
    }

    /// Runs a subcommand on a separate thread, and returns its output.
    private static func run(_ words: String...) async -> String {
        let command = "\(path ?? "openssl") \(words.joined(separator: " ")) 2>/dev/null"
        return await withCheckedContinuation { done in
            Thread.detachNewThread {
                guard let stream = popen(command, "r") else { return done.resume(returning: "") }
                var output: [UInt8] = []
                var byte = getc(stream)
                while byte != EOF {
                    output.append(UInt8(truncatingIfNeeded: byte))
                    byte = getc(stream)
                }
                pclose(stream)
                done.resume(returning: String(decoding: output, as: UTF8.self))
            }
        }
    }
}
