import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySimulation
import LatchkeyTesting
import Testing

/// A shell runs every command line of the README, of the tools' page and of `--help`, as it is written. The reader's own values,
/// such as a host or a file, are replaced by the same values of a running `latchkey serve`.
@Suite(.enabled(if: ToolProcess.isThere, Comment(rawValue: ToolProcess.whyNot)), .timeLimit(.minutes(8)))
struct CommandLineExampleRunTests {
    /// Verbs without the arguments that they need: a mention.
    private static let mentions: Set = ["latchkey spc", "latchkey ckc", "latchkey open-ckc", "latchkey doctor URL"]
    /// Slow lines, and lines that DemonstrationTests runs in its process.
    private static let elsewhere: Set = [
        "latchkey demo", "latchkey demo --all", "latchkey demo --all --out /tmp/demo",
    ]
    /// Lines with a negative answer: a refusal, a token for other keys, and a refusal that a proxy recorded.
    private static let refused: Set = [
        "latchkey doctor --har session.har",
        "latchkey inspect token --key-id 7eaf8ec3-4f1e-4d3b-9d0f-0c6a4a4a8b52 --purpose persistable my.jwt",
        "latchkey wire response --vendor verimatrix --status 403 --header 'x-request-id: r-1' --body reply.json --json",
    ]

    @Test func `every command line of the pages and the help works as stated`() async throws {
        let lines = try Self.pages() + (try await Self.help())
        #expect(Set(lines).count > 60)
        #expect(Self.refused.isSubset(of: lines))
        let issuer = try await ExampleDesk()
        for line in Set(lines).sorted() where !Self.mentions.contains(line) && !Self.elsewhere.contains(line) {
            let run = try await issuer.run(line)
            let expected: Int32 = Self.refused.contains(line) ? 1 : 0
            #expect(run.status == expected, "\(line): \(run.output.suffix(1_000)) \(run.error.suffix(1_000))")
        }
        await issuer.close()
    }

    private static func pages() throws -> [String] {
        try ["README.md", "Documentation/CommandLine.md"].flatMap { page in
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(page)")
            return try String(contentsOf: file, encoding: .utf8).matches(of: /`(latchkey [^`]+)`/).map {
                String($0.output.1)
            }
        }
    }

    /// The examples of all verbs, as `--help` prints them.
    private static func help() async throws -> [String] {
        let overview = try await ToolProcess.run("--help").output
        var lines: [String] = []
        for verb in overview.matches(of: #/(?m)^ {2}([a-z][a-z-]*(?: [a-z]+)?) {2}/#).map({ String($0.output.1) }) {
            let page = try await ToolProcess.run(verb.split(separator: " ").map(String.init) + ["--help"]).output
            let examples = page.components(separatedBy: "\nExamples:\n").dropFirst().first ?? ""
            let text = examples.components(separatedBy: "\n\n").first ?? ""
            lines += text.replacing("\\\n", with: "").split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        return lines.map { $0.replacing(#/ {2,}/#, with: " ") }
    }
}

/// A folder with the files that the examples name, and the services that they ask.
private final class ExampleDesk: Sendable {
    private let folder: TemporaryFolder
    private let serve: ServeProcess
    private let replacements: [(String, String)]

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        try LiveServices.writeCredentials(to: folder.file("credentials"))
        // An example's file has one token, and a load sends one with each request.
        serve = try await ServeProcess(
            "--credentials", folder.path("credentials"), "--lenient", "vudrm/tokenOnce", "--lenient", "vudrm/tokenAge")
        let dask = try await Self.furnish(folder, serve)
        let (address, media) = (serve.address, "\(serve.address)/media/vudrm/ts/master.m3u8")
        let token = "token=@\(address)/tokens/vudrm"
        replacements = [
            ("https://cdn.example.com/movie/master.m3u8", "\(media) --loopback-http"),
            ("https://fairplay-license.vudrm.tech/certificate/demo", "\(address)/vudrm/certificate/demo-client"),
            ("http://127.0.0.1:8080", address), ("certificate/demo ", "certificate/demo-client "),
            (
                "https://HOST/t/demo/fairplay --content-id skd://demo/video --credentials c …",
                "\(address)/latchkey/t/demo/fairplay --content-id skd://demo/video --credentials credentials "
                    + "--token-command 'curl -s \(address)/tokens/latchkey'"
            ),
            ("--credentials c …", "--credentials credentials \(serve.settings(of: "vudrm").joined(separator: " "))"),
            ("'token={token}'", token), ("token=@FILE", "token=@token"),
            ("certificateURL=URL", "certificateURL=\(address)/vudrm/certificate/demo-client"),
            ("capture URL", "capture \(media) --loopback-http"), ("play URL", "play \(media) --loopback-http"),
            ("doctor URL", "doctor \(media) --loopback-http"),
            ("https://cdn.example.com/v/video.m3u8", "\(address)/media/vudrm/ts/video.m3u8"),
            ("curl -s https://cdn.example.com/v/p.m3u8", "cat video.m3u8"),
            ("--credentials DIR", "--credentials credentials"),
            ("3c3c…", String(repeating: "3c", count: 16)), ("d5fb…", String(repeating: "d5fb", count: 8)),
            ("d87c…", dask),
            ("--out credentials", "--out new-credentials"), ("vendors NAME", "vendors vudrm"),
            ("spc FILE", "spc my.spc"), ("--port 8443", "--port 0"), ("/tmp/", "./"),
            // A busy machine's server refuses some, which try again.
            ("load --in-process", "load --in-process --retry 1000"),
        ]
    }

    /// Writes the files that the examples read.
    /// - Returns: the derived key of `vector.spc`, in hex.
    private static func furnish(_ folder: TemporaryFolder, _ serve: ServeProcess) async throws -> String {
        let files = FileManager.default
        let der = try Data(contentsOf: folder.file("credentials/certificate.der"))
        try der.write(to: folder.file("fairplay.cer"))
        let authority = try TestAuthority(in: folder)
        try files.copyItem(atPath: authority.server, toPath: folder.path("chain.pem"))
        try files.copyItem(atPath: authority.serverKey, toPath: folder.path("key.pem"))
        try files.createSymbolicLink(at: folder.file("media"), withDestinationURL: DemoAsset.folder)
        try files.copyItem(at: DemoAsset.folder.appending(path: "two-keys"), to: folder.file("packaged"))
        try files.createDirectory(at: folder.file(".zfunc"), withIntermediateDirectories: true)
        try files.createDirectory(at: folder.file(".config/fish/completions"), withIntermediateDirectories: true)
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://fps.ezdrm.com/;297f600f-1234-1234-b060-2ac13cc42585",\
            KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:2,
            1.ts

            """
        try files.createDirectory(at: folder.file("bin"), withIntermediateDirectories: true)
        _ = try folder.write("#!/bin/sh\nexec '\(ToolProcess.path ?? "")' \"$@\"\n", to: "bin/latchkey")
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("bin/latchkey"))
        _ = try folder.write(
            #"{"sources": [{"src": "master.m3u8", "drm": {"integration": "vudrm", "fairplay": {"certificateURL": "https://a.example/"}}}]}"#,
            to: "source-description.json")
        for name in ["master.m3u8", "video.m3u8"] { _ = try folder.write(playlist, to: name) }
        _ = try folder.write(try await serve.token(of: "vudrm"), to: "token")
        _ = try folder.write(try await serve.token(of: "axinom"), to: "my.jwt")
        _ = try folder.write("12:00:01 player failed: CoreMediaErrorDomain -42656\n", to: "device.log")
        _ = try folder.write(#"{"errorCode": "4031", "message": "no"}"#, to: "reply.json")
        _ = try folder.write(
            #"""
            {"log": {"version": "1.2", "entries": [{"request": {"method": "POST", "url": "https://fps.ezdrm.com/api/licenses/7",
            "headers": [], "postData": {"mimeType": "application/octet-stream", "text": ""}}, "response": {"status": 500,
            "headers": [], "content": {"size": 19, "mimeType": "text/plain", "text": "Unable to parse SPC"}}}]}}
            """#, to: "session.har")
        for line in [
            "latchkey vendors show vudrm-raw > my-vendor.json",
            "latchkey spc --credentials credentials --content-id my-asset --out my.spc --state my.state",
            "latchkey spc --credentials credentials --content-id video --out captured.spc --state captured.state",
            "latchkey ckc --credentials credentials --key \(String(repeating: "3c", count: 16)) "
                + "--iv \(String(repeating: "5d", count: 16)) --out my.ckc my.spc",
            "cp my.ckc reply.bin; cp my.spc vector.spc; cp my.spc spc",
        ] {
            let run = try await shell(line, in: folder)
            try #require(run.status == 0, "\(line): \(run.error)")
        }
        return try derivedKey(of: folder.file("vector.spc"), folder.file("credentials"))
    }

    private static func derivedKey(of spc: URL, _ credentials: URL) throws -> String {
        let derivation = RecordingDerivation()
        let module = KeyServerModule(
            credentials: [try KeyServerCredential(directory: credentials)], derivation: derivation)
        _ = try module.open(Data(contentsOf: spc))
        return derivation.key.withLock { $0 }
    }

    /// Runs a line; a server is ended when it listens.
    func run(_ line: String) async throws -> ToolProcess.Outcome {
        var command = replacements.reduce(line) { $0.replacing($1.0, with: $1.1) }
        if command.hasPrefix("latchkey serve") {
            let port = command.contains("--port") ? "" : " --port 0"
            command =
                "\(command)\(port) > served & server=$!; "
                + "until grep -q 'http' served || ! kill -0 $server; do :; done; kill $server; wait $server; [ $? -eq 143 ]"
        }
        return try await Self.shell(command, in: folder)
    }

    func close() async { _ = await serve.end(by: SIGTERM) }

    private static func shell(_ line: String, in folder: TemporaryFolder) async throws -> ToolProcess.Outcome {
        try await ToolProcess.run(
            program: "/bin/bash", ["-c", "cd '\(folder.url.path)' || exit; \(line)"],
            environment: ["HOME": folder.url.path, "PATH": "\(folder.path("bin")):/usr/bin:/bin"])
    }
}

/// Remembers the key that it derives, which a published vector states next to its SPC.
private struct RecordingDerivation: ApplicationSecretDerivation {
    let key = Locked("")

    func derivedKey(r2: Secret, for credential: KeyServerCredential) throws(Diagnosis) -> Secret {
        let derived = try InsecureTestDerivation().derivedKey(r2: r2, for: credential)
        key.withLock { $0 = derived.revealed.map { String(format: "%02x", $0) }.joined() }
        return derived
    }
}
