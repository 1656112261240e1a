import Foundation
import LatchkeyFairPlay
import TLSPeer
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// `latchkey-server run`, whose listener gets another certificate.
@Suite(
    .enabled(if: ToolProcess.binary("latchkey-server") != nil, Comment(rawValue: ToolProcess.whyNot)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash"), "needs bash"), .timeLimit(.minutes(5)))
struct ListenerCertificateToolTests {
    // Prints the players' address, once signals are handled.
    private static let script = """
        exec "$0" run --config "$1" \
        2> >(sed -un '/"listener":"players"/ { s/.*"url":"\\([^"]*\\)".*/\\1/; h; }; /accepts requests/ { x; p; }')
        """

    @Test func `a hang-up loads the new certificate and is audited, and the old connection stays open`() async throws {
        let folder = try ServerFolder(["players.certificate": "tls.pem", "players.privateKey": "tls-key.pem"])
        func write(_ identity: SelfSigned) throws {
            try folder.write(identity.certificate, to: "tls.pem")
            try folder.write(secret: identity.privateKey, to: "tls-key.pem")
        }
        try await folder.makeTenants()
        let (first, second) = (try SelfSigned(), try SelfSigned())
        try write(first)
        let process = try await ServingProcess(
            program: "/bin/bash",
            ["-c", Self.script, ToolProcess.binary("latchkey-server") ?? "", folder.configuration])
        let place = try #require(URL(string: String(decoding: process.line, as: UTF8.self)))
        let port = try #require(place.port.flatMap { UInt16(exactly: $0) })
        let old = try await TLSConnection.open(port)
        #expect(old.certificate == first.der)
        try write(second)
        process.send(SIGHUP)
        while try await TLSConnection.open(port).certificate != second.der { try Task.checkCancellation() }
        let request = "GET /t/demo/certificate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        #expect(try await old.ask(request, until: "\u{0}\u{0}\u{0}").hasPrefix("HTTP/1.1 200 "))
        #expect(await process.end(by: SIGTERM) == 0)
        let engines = try await ServerEngines.open(ConfigurationFile(folder.configuration))
        defer { engines.close() }
        let events = try await engines.audit.entries(from: 1, limit: 10).compactMap { JSONValue(Data($0.text.utf8)) }
        let loaded = try #require(events.first { $0["details"]?["certificates"]?.text == "players" }, "\(events)")
        #expect(loaded["action"]?.text == "configurationLoaded")
        #expect(loaded["actor"]?.text == "node:\(ProcessInfo.processInfo.hostName)")
    }
}
