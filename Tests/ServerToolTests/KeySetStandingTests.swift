import Foundation
import LatchkeyTerminal
import LatchkeyVendors
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// The operator's view of key sets for tokens, and of the operator's own service.
@Suite(.timeLimit(.minutes(2)))
struct KeySetStandingTests {
    /// The demonstration's key, one that is too short, and a private one.
    private static func spoil(_ folder: ServerFolder) throws {
        try folder.edit(
            [
                "keys.1": ["kty": "oct", "alg": "HS256", "kid": "short", "k": "AAAA"],
                "keys.2": ["kty": "EC", "crv": "P-256", "kid": "leak", "d": "AAAA"],
            ], in: "jwks.json")
    }

    @Test func `refused keys of a set appear in log, metric, console and tenants, each with its place`() async throws {
        let stage = try await TestServer(prepare: Self.spoil)
        let metrics = try await stage.operators("metrics").text
        #expect(metrics.contains(#"latchkey_key_set_keys{tenant="demo",state="usable"} 1"#))
        #expect(metrics.contains(#"latchkey_key_set_keys{tenant="demo",state="refused"} 2"#))
        #expect(metrics.contains(#"latchkey_key_set_failed{tenant="demo"} 0"#))
        let overview = try await stage.admin("overview").text
        #expect(overview.contains("tenants.demo.tokens.keys: The key “short” at keys[1] is refused"))
        #expect(overview.contains(#""node":""#))
        let tenants = try await stage.admin("tenants").text
        #expect(tenants.contains(#""refused":2"#) && tenants.contains("private member"))
        #expect(try await stage.license().0.status == 200)
        await stage.stop()
        let log = await stage.log
        #expect(log.contains("keys[1]") && log.contains("keys[2]") && log.contains(#""tenant":"demo""#))
        #expect(log.contains(#""node":""#))
    }

    @Test func `the check reports refused keys and a key set's fetch error`() async throws {
        let folder = try ServerFolder()
        try Self.spoil(folder)
        try await folder.makeTenants()
        let first = await ToolRun("run", "--check", "--config", folder.configuration)
        #expect(first.status == .yes && first.error.contains("“short” at keys[1]"), "\(first.error)")
        let silent = try LoopbackServer { _, _ in .send("HTTP/1.0 200 OK\r\n\r\n") }
        try folder.edit(["tenants.demo.tokens.keys": "https://127.0.0.1:\(silent.port)/jwks"])
        let second = await ToolRun("run", "--check", "--config", folder.configuration)
        #expect(second.status == .no)
        #expect(second.error.contains("tenants.demo.tokens.keys: The key set cannot be fetched."), "\(second.error)")
        #expect(second.error.contains("TLS") && !second.error.contains("TransportError"), "\(second.error)")
    }

    @Test(arguments: [(409, 403, "refuses this viewer and content with 409"), (503, 503, "responds with 503")])
    func `the answer of the operator's own service is logged`(
        _ status: Int, _ answer: Int, _ told: String
    ) async throws {
        let service = try LoopbackServer { _, _ in .send("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n") }
        let stage = try await TestServer(["tenants.demo.callout.url": "http://127.0.0.1:\(service.port)/"])
        #expect(try await stage.license().0.status == answer)
        await stage.stop()
        let log = await stage.log
        let line = try #require(log.split(separator: "\n").first { $0.contains(told) }, "\(log)")
        #expect(line.contains(#""tenant":"demo""#))
    }
}
