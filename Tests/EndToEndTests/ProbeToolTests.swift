import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyMedia
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyVault
@testable import TestServers

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `latchkey probe` at the production server, as a process.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(5)))
struct ProbeToolTests {
    private static func arguments(_ stage: StreamingServer, _ folder: TemporaryFolder, _ uri: String) throws -> [String]
    {
        let token = try folder.write(try stage.token().revealedText, to: "token", mode: 0o600)
        return [
            "probe", "--license-url", "\(stage.tenant)/fairplay",
            "--credentials", stage.test.folder.file("credentials").path, "--content-id", uri, "--token-file", token,
        ]
    }

    @Test func `a probe gets a key as a viewer does, and says why if none comes`() async throws {
        let (stage, folder) = (try await StreamingServer(), try TemporaryFolder())
        let video = try #require(stage.keys["video"])
        let right = try await ToolProcess.run(Self.arguments(stage, folder, "skd://video/\(video.id)"))
        #expect(right.status == 0 && right.output.hasPrefix("A key came in "), "\(right)")
        let wrong = try await ToolProcess.run(
            Self.arguments(stage, folder, "skd://none"))
        #expect(wrong.status == 1 && wrong.output.hasPrefix("No key came. notFound: "), "\(wrong)")
    }

    @Test(
        arguments: [
            ([], "probe needs --token-key"), (["--token-file", "/dev/null"], "is empty"),
            (["--token-file", "t", "--every", "1s"], "its token expires"),
            (["--token-key", "k", "--every", "3m"], "--every takes at most 2m"),
            (["--token-key", "k", "--port", "1"], "--port has no effect without --every"),
            (["--token-key", "k", "--license-url", "here"], "needs an http or https URL"),
        ] as [([String], String)])
    func `unusable options are refused`(_ words: [String], _ part: String) async throws {
        let (stage, folder) = (try await StreamingServer(), try TemporaryFolder())
        let usual = try Self.arguments(stage, folder, "skd://none").dropLast(2)
        let base = words.contains("--license-url") ? ["probe"] + usual.dropFirst(3) : Array(usual)
        let run = try await ToolProcess.run(base + words)
        #expect(run.status == 2 && run.error.contains(part), "\(run)")
    }

    /// A limit of one stream is enough, and a token for one session: each try renews the stream of the one before.
    @Test func `a repeating probe serves its results`() async throws {
        let policy = #"{"concurrency":{"limit":1,"mode":"refuseNewest"},"token":{"singleUse":true}}"#
        let (stage, folder) = (try await StreamingServer(policy: policy), try TemporaryFolder())
        let video = try #require(stage.keys["video"])
        let key = stage.test.folder.file("token-key.hex").path
        let probe = try await ServingProcess(
            program: ToolProcess.path ?? "",
            Self.arguments(stage, folder, "skd://video/\(video.id)").dropLast(2) + [
                "--token-key", key, "--certificate-url", "\(stage.tenant)/certificate", "--every", "1s", "--host",
                "127.0.0.1", "--port",
                "0",
            ])
        let line = String(decoding: probe.line, as: UTF8.self).trimmingCharacters(in: .newlines)
        let address = try #require(URL(string: String(line.trimmingPrefix("Metrics: "))))
        func metrics() async throws -> String {
            String(
                decoding: try await SystemTransport().send(URLRequest(url: address), bodyLimit: 1 << 16).body,
                as: UTF8.self)
        }
        while try await !metrics().contains("latchkey_probe_tries_total 3") { await Task.yield() }
        let found = try await metrics()
        #expect(
            found.contains("latchkey_probe_success 1") && !found.contains("latchkey_probe_failures_total{"), "\(found)")
        #expect(found.contains("latchkey_probe_timestamp_seconds "))
        let vault = try #require(stage.server.current.tenants["demo"]).vault
        #expect(try await vault.setDisabled(true, video.id))
        while try await !metrics().contains("latchkey_probe_success 0") { await Task.yield() }
        #expect(try await metrics().contains(#"latchkey_probe_failures_total{code="forbidden"}"#))
        _ = await probe.end(by: SIGTERM)
    }
}
