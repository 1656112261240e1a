import Foundation
import LatchkeyCore
import LatchkeySimulation
import Testing

/// The client is a process of its own, so that it can trust what this one does not.
@Suite(
    .serialized, .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(3)))
struct TLSTests {
    @Test(
        .enabled(if: ChangedTrust.isPossible, "needs unshare and the right to mount, to change what a process trusts"))
    func `a client that trusts the authority plays over https`() async throws {
        let setting = try await Setting()
        let run = try await setting.play(trusting: true)
        #expect(run.status == 0)
        #expect(run.json?["right"] as? Bool == true)
        let requests = try #require(run.json?["requests"] as? [[String: Any]])
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { ($0["url"] as? String)?.hasPrefix("https://127.0.0.1:") == true })
        #expect(await setting.serve.end(by: SIGINT) == 0)
    }

    @Test func `a client that does not trust it gets tlsFailed, and no second try`() async throws {
        let setting = try await Setting()
        // A playlist on disk, so that the certificate's request is the first to fail.
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
        #expect(error["code"] as? String == "tlsFailed")
        #expect((error["remedy"] as? String)?.contains("TLS certificate") == true)
        #expect(error["attempts"] as? Int == 1)
        #expect((run.json?["requests"] as? [Any])?.count == 1)
        #expect(await setting.serve.end(by: SIGINT) == 0)
    }

    @Test func `a playlist over https from an unknown authority gets tlsFailed too`() async throws {
        let setting = try await Setting()
        let run = try await setting.play()
        #expect(run.status == 1)
        #expect(run.errorCode == "tlsFailed")
        #expect(await setting.serve.end(by: SIGINT) == 0)
    }

    private struct Setting {
        let folder: TemporaryFolder
        let serve: ServeProcess
        let authority: String

        init() async throws {
            folder = try TemporaryFolder()
            try LiveServices.writeCredentials(to: folder.file("c"))
            let authority = try TestAuthority(in: folder)
            self.authority = authority.certificate
            serve = try await ServeProcess(
                "--credentials", folder.path("c"), "--content", DemoAsset.folder.path, "--tls", authority.server,
                authority.serverKey)
        }

        func play(_ playlist: String? = nil, trusting: Bool = false) async throws -> ToolProcess.Outcome {
            let words =
                ["play", playlist ?? "\(serve.address)/media/vudrm/ts/master.m3u8", "--vendor", "vudrm", "--json"]
                + serve.settings(of: "vudrm") + ["--credentials", folder.path("c")]
            guard trusting else { return try await ToolProcess.run(words) }
            return try await ToolProcess.run(
                program: ChangedTrust.program ?? "",
                ChangedTrust.arguments(authority: authority) + [ToolProcess.path ?? ""] + words)
        }
    }
}

/// Runs a program that sees another file in the place of the machine's list of authorities: Foundation on Linux reads no
/// setting that would name one.
private enum ChangedTrust {
    static let program = ["/usr/bin/unshare", "/bin/unshare"].first(where: FileManager.default.isExecutableFile)
    private static let list = "/etc/ssl/certs/ca-certificates.crt"

    static let isPossible: Bool = {
        guard let program, FileManager.default.fileExists(atPath: list) else { return false }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments(authority: list) + ["true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// What stands between `unshare` and the program to run.
    static func arguments(authority: String) -> [String] {
        ["-r", "-m", "/bin/sh", "-c", #"mount --bind "$0" "$1" && shift && exec "$@""#, authority, list]
    }
}

/// An authority of this test, and a server's certificate from it for 127.0.0.1. Paths of PEM files.
private struct TestAuthority {
    let certificate, server, serverKey: String

    static let tool = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first(where: FileManager.default.isExecutableFile)
    static var isThere: Bool { tool != nil }

    init(in folder: TemporaryFolder) throws {
        certificate = folder.path("authority.pem")
        server = folder.path("server.pem")
        serverKey = folder.path("server-key.pem")
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try Self.openssl(
            ["req", "-x509"] + key + ["-subj", "/CN=Latchkey Test Authority", "-days", "2", "-out", certificate]
                + ["-keyout", folder.path("authority-key.pem")])
        try Self.openssl(
            ["req"] + key + ["-subj", "/CN=localhost", "-out", folder.path("request.pem"), "-keyout", serverKey])
        let names = try folder.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n", to: "names.txt")
        try Self.openssl(
            ["x509", "-req", "-in", folder.path("request.pem"), "-CA", certificate, "-CAcreateserial", "-days", "2"]
                + ["-CAkey", folder.path("authority-key.pem"), "-extfile", names, "-out", server])
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: tool ?? "")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
