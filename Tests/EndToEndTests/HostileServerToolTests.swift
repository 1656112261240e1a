import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

/// Replies that once crashed the tool or kept it busy forever (findings S2 and S3). Now each is an error with a code.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct HostileServerToolTests {
    static let replies: [(LoopbackServer.Action, String)] = [
        (.send("HTTP/1.1 200 OK\r\n"), "connectionLost"),
        (.send("HTTP/1.1 200 OK\r\nContent-Ty"), "connectionLost"),
        (.send("HTTP/1.1 103 Early Hints\r\nLink: </a>"), "connectionLost"),
        (.send("HTTP/1.1 302 Found\r\nLocation: /nex"), "connectionLost"),
        (.begin("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"), "bodyTooLarge"),
        (.endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", piece: "1\r\na\r\n"), "bodyTooLarge"),
        (.endless("HTTP/1.1 200 OK\r\n", piece: "X-A: 1\r\n"), "headTooLarge"), (.send("hello"), "replyMalformed"),
    ]

    @Test(arguments: replies)
    func `play names the fault of a playlist's server`(_ reply: LoopbackServer.Action, _ code: String)
        async throws
    {
        let server = try LoopbackServer { _, _ in reply }
        let run = try await play(server.url("/master.m3u8").absoluteString, certificate: server)
        #expect(run.status == 1 && run.errorCode == code, "\(run.output)\(run.error)")
    }

    @Test(arguments: replies)
    func `play names the fault of a certificate's server`(
        _ reply: LoopbackServer.Action, _ code: String
    ) async throws {
        let server = try LoopbackServer { _, _ in reply }
        let folder = try TemporaryFolder()
        let run = try await play(try playlist(server, in: folder), certificate: server)
        #expect(run.status == 1 && run.errorCode == code, "\(run.output)\(run.error)")
    }

    @Test(arguments: replies)
    func `doctor names a server's fault`(_ reply: LoopbackServer.Action, _ code: String) async throws {
        let server = try LoopbackServer { _, _ in reply }
        let folder = try TemporaryFolder()
        let run = try await ToolProcess.run(
            ["doctor", try playlist(server, in: folder)] + settings(server) + ["--json"])
        let checks = try #require(run.json?["checks"] as? [[String: String]])
        #expect(run.status == 1 && checks.contains { $0["step"] == "certificate" && $0["code"] == code })
    }

    private func settings(_ server: LoopbackServer) -> [String] {
        ["--vendor", "vudrm-raw", "--set", "certificateURL=\(server.url("/certificate").absoluteString)"]
            + ["--set", "token=t", "--loopback-http"]
    }

    private func play(_ playlist: String, certificate: LoopbackServer) async throws -> ToolProcess.Outcome {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        return try await ToolProcess.run(
            ["play", playlist] + settings(certificate) + ["--credentials", folder.path("c"), "--json"])
    }

    private func playlist(_ server: LoopbackServer, in folder: TemporaryFolder) throws -> String {
        try folder.write(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://127.0.0.1:\(server.port)/license/movie",\
            KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:2,
            1.ts

            """, to: "local.m3u8")
    }
}
