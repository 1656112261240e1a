import Foundation
import LatchkeyCore
import LatchkeyTerminal
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool

/// What an operator learns of key sets for tokens, and of the operator's own service.
@Suite(.timeLimit(.minutes(2)))
struct KeySetStandingTests {
    /// The demonstration's key, one that is too short, and a private one.
    private static func spoil(_ folder: URL) throws {
        let file = folder.appending(path: "jwks.json")
        let good = try String(contentsOf: file, encoding: .utf8).dropLast(3)
        let bad =
            #"{"kty":"oct","alg":"HS256","kid":"short","k":"AAAA"},{"kty":"EC","crv":"P-256","kid":"leak","d":"AAAA"}"#
        try Data("\(good),\(bad)]}".utf8).write(to: file)
    }

    @Test func `refused keys of a set are told in log, metric, console and tenants, each with its place`() async throws
    {
        let stage = try await ServerStage(prepare: Self.spoil)
        let operators = stage.server.addresses.operators.url
        let metrics = try await stage.send("\(operators)/metrics").text
        #expect(metrics.contains(#"latchkey_key_set_keys{tenant="demo",state="usable"} 1"#))
        #expect(metrics.contains(#"latchkey_key_set_keys{tenant="demo",state="refused"} 2"#))
        #expect(metrics.contains(#"latchkey_key_set_failed{tenant="demo"} 0"#))
        let overview = try await stage.send("\(operators)/admin/v1/overview", bearer: stage.admin).text
        #expect(overview.contains("tenants.demo.tokens.keys: The key “short” at keys[1] is refused"))
        #expect(overview.contains(#""node":""#))
        let tenants = try await stage.send("\(operators)/admin/v1/tenants", bearer: stage.admin).text
        #expect(tenants.contains(#""refused":2"#) && tenants.contains("private member"))
        #expect(try await stage.license().0.status == 200)
        await stage.stop()
        let log = String(decoding: stage.log.withLock { $0 }, as: UTF8.self)
        #expect(log.contains("keys[1]") && log.contains("keys[2]") && log.contains(#""tenant":"demo""#))
        #expect(log.contains(#""node":""#))
    }

    @Test func `the check tells refused keys, and why a set at an address cannot be fetched`() async throws {
        let root = try TemporaryFolder()
        let folder = try DemoFolder(root.file("demo"), ports: [0, 0, 0])
        try Self.spoil(folder.url)
        try await folder.makeTenants()
        let first = await ToolRun("run", "--check", "--config", folder.configuration)
        #expect(first.status == .yes && first.error.contains("“short” at keys[1]"), "\(first.error)")
        let silent = try LoopbackServer { _, _ in .send("HTTP/1.0 200 OK\r\n\r\n") }
        try ServerStage.edit(folder.configuration) {
            $0 = $0.replacing(#""jwks.json""#, with: #""https://127.0.0.1:\#(silent.port)/jwks""#)
        }
        let second = await ToolRun("run", "--check", "--config", folder.configuration)
        #expect(second.status == .no)
        #expect(second.error.contains("tenants.demo.tokens.keys: The key set cannot be fetched."), "\(second.error)")
        #expect(second.error.contains("TLS") && !second.error.contains("TransportError"), "\(second.error)")
    }

    @Test(arguments: [(409, 403, "refuses this viewer and content with 409"), (503, 503, "answers with 503")])
    func `what the operator's own service answers is in the log`(
        _ status: Int, _ answer: Int, _ told: String
    ) async throws {
        let service = try LoopbackServer { _, _ in .send("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n") }
        let stage = try await ServerStage {
            $0 = $0.replacing(
                #""clearKey": true,"#,
                with: #""clearKey": true, "callout": {"url": "http://127.0.0.1:\#(service.port)/"},"#)
        }
        #expect(try await stage.license().0.status == answer)
        await stage.stop()
        let log = String(decoding: stage.log.withLock { $0 }, as: UTF8.self)
        let line = try #require(log.split(separator: "\n").first { $0.contains(told) }, "\(log)")
        #expect(line.contains(#""tenant":"demo""#))
    }
}
