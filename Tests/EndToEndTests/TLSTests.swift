import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import Testing

/// The client is a separate process, so that it can trust an authority that this process does not.
@Suite(
    .serialized, .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(8)))
struct TLSTests {
    @Test func `a client that trusts the authority plays over https`() async throws {
        let setting = try await Setting()
        let run = try await setting.play(trusting: true)
        #expect(run.status == 0, "\(run)")
        #expect(run.json?["right"] as? Bool == true)
        let requests = try #require(run.json?["requests"] as? [[String: Any]])
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { ($0["url"] as? String)?.hasPrefix("https://127.0.0.1:") == true })
        #expect(await setting.serve.end(by: SIGINT) == 128 + SIGINT)
    }

    @Test func `a client that does not trust it says so and does not retry`() async throws {
        let setting = try await Setting()
        // A playlist on disk, so that the request for the certificate is the first to fail.
        let playlist = try setting.folder.write(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://demo/video",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:2,
            1.ts

            """, to: "local.m3u8")
        let run = try await setting.play(playlist)
        #expect(run.status == 1)
        let error = try #require(run.json?["error"] as? [String: Any])
        #expect(error["code"] as? String == "serverCertificateUntrusted")
        #expect((error["remedy"] as? String)?.contains("TLS certificate") == true)
        #expect(error["attempts"] as? Int == 1)
        #expect((run.json?["requests"] as? [Any])?.count == 1)
        #expect(await setting.serve.end(by: SIGINT) == 128 + SIGINT)
    }

    @Test func `a playlist over https from an unknown authority is refused too`() async throws {
        let setting = try await Setting()
        let run = try await setting.play()
        #expect(run.status == 1)
        #expect(run.errorCode == "serverCertificateUntrusted")
        #expect(await setting.serve.end(by: SIGINT) == 128 + SIGINT)
    }

    private struct Setting {
        let folder: TemporaryFolder
        let serve: ServeProcess
        let authority: String
        /// A copy on disk, so that there are no requests before playback begins.
        private static let token =
            "demo-client|2026-01-01T00:00:00Z|AAAAAAAAAAAAAAAAAAAAAA==|0000000000000000000000000000000000000000"

        init() async throws {
            folder = try TemporaryFolder()
            try LiveServices.writeCredentials(to: folder.file("c"))
            let authority = try TestAuthority(in: folder)
            self.authority = authority.certificate
            serve = try await ServeProcess(
                "--credentials", folder.path("c"), "--content", DemoAsset.folder.path, "--tls", authority.server,
                authority.serverKey, "--lenient", "vudrm/tokenAge")
        }

        func play(_ playlist: String? = nil, trusting: Bool = false) async throws -> ToolProcess.Outcome {
            let words =
                ["play", playlist ?? "\(serve.address)/media/vudrm/ts/master.m3u8", "--vendor", "vudrm", "--json"]
                + serve.settings(of: "vudrm").map { $0.hasPrefix("token=") ? "token=\(Self.token)" : $0 }
                + ["--credentials", folder.path("c")]
            return try await ToolProcess.run(words, environment: trusting ? ["SSL_CERT_FILE": authority] : [:])
        }
    }
}
