import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct PlayToolTests {
    /// Only a few retries, because the tool waits between them.
    static let faults: [(Fault?, [String])] = [
        (nil, []), (nil, ["--json"]), (.status(403), []), (.status(403), ["--json"]), (.status(404), ["--json"]),
        (.htmlPage, ["--json"]),
    ]

    @Test(arguments: faults)
    func `play shows no secret, whatever the service does`(_ fault: Fault?, _ options: [String]) async throws {
        try await LiveServices.with { live in
            let service = live.service(for: .vuDRM)
            if let fault { service.faults.set(fault, at: .license) }
            let run = try await play(live, options)
            #expect(run.status == (fault == nil ? 0 : 1))
            #expect(run.error == "")
            if !options.isEmpty {
                #expect(run.json?["right"] as? Bool == (fault == nil))
                #expect((run.json?["error"] == nil) == (fault == nil))
            }
            #expect(service.secrets.count > 5)
            for secret in service.secrets {
                #expect(SecretForms(secret).found(in: run.output + live.log.text).isEmpty)
            }
        }
    }

    @Test func `play shows the content keys only with --reveal-test-keys`() async throws {
        try await LiveServices.with { live in
            let run = try await play(live, ["--json", "--reveal-test-keys"])
            let key = try #require(live.service(for: .vuDRM).environment.authority.keys.keys.first).content.key.revealed
            let revealed = (run.json?["keys"] as? [[String: Any]])?.compactMap { $0["contentKey"] as? String }
            #expect(revealed == [key.hexString])
            let others = live.service(for: .vuDRM).secrets.filter { $0 != key }
            #expect(others.allSatisfy { SecretForms($0).found(in: run.output).isEmpty })
        }
    }

    @Test func `a token is required before anything is sent`() async throws {
        try await LiveServices.with { live in
            let run = try await play(live, [], without: ["token"])
            #expect(run.status == 2)
            #expect(run.error.contains("needs --set token="))
            #expect(live.host.requestCount == 0)
        }
    }

    @Test func `a service with another certificate is named as the cause`() async throws {
        let folder = try TemporaryFolder()
        #expect(try await ToolProcess.run("credentials", "--out", folder.path("c")).status == 0)
        try await LiveServices.with { live in
            let run = try await play(live, ["--json"], credentials: folder.path("c"))
            #expect(run.status == 1)
            let error = try #require(run.json?["error"] as? [String: Any])
            #expect(error["code"] as? String == "spcFailed")
            #expect((error["reason"] as? String)?.contains("is not that of the device's credentials") == true)
            #expect(error["remedy"] as? String == "Give the credentials that the service was started with.")
            #expect(live.service(for: .vuDRM).requests(at: .license).isEmpty)
        }
    }

    @Test func `without --loopback-http the error names it`() async throws {
        try await LiveServices.with { live in
            let run = try await play(live, [], without: ["--loopback-http"])
            #expect(run.status == 1)
            #expect(run.output.contains("--loopback-http") && run.output.contains("(hostRefused)"))
        }
    }

    @Test(arguments: ["ask.hex", "certificate.der"])
    func `a missing file in the credentials folder is named`(_ file: String) async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        try FileManager.default.removeItem(at: folder.file("c/\(file)"))
        try await LiveServices.with { live in
            let run = try await play(live, [], credentials: folder.path("c"))
            #expect(run.status == 1)
            #expect(run.messageCode == "cannotRead")
            #expect(run.error.contains("c/\(file) cannot be read"))
        }
    }

    @Test(arguments: [("--hashes", "cannotRead"), ("--frame", "fileFailed"), ("--out", "fileFailed")])
    func `a file that cannot be read or written is named`(_ option: String, _ code: String) async throws {
        let folder = try TemporaryFolder()
        try await LiveServices.with { live in
            let run = try await play(live, [option, folder.path("nowhere/file.mkv")])
            #expect(run.status == 1)
            #expect(run.messageCode == code)
            #expect(run.error.contains("file.mkv"))
        }
    }

    @Test func `the JSON error has a support ticket's details`() async throws {
        try await LiveServices.with { live in
            live.service(for: .vuDRM).faults.set(.status(403), at: .license)
            let error = try #require(try await play(live, ["--json"]).json?["error"] as? [String: Any])
            #expect(error["stage"] as? String == "license")
            #expect(error["status"] as? Int == 403)
            #expect((error["requestID"] as? String)?.hasSuffix("-3") == true)
            #expect(error["attempts"] as? Int == 2)
            #expect(error["retryable"] as? Bool == false)
        }
    }

    @Test func `a URL is rejected as a host`() async throws {
        try await LiveServices.with { live in
            let run = try await play(live, ["--allow-host", "https://cdn.example/"])
            #expect(run.status == 2)
            #expect(run.error.contains("--allow-host takes a host"))
            #expect(live.host.requestCount == 0)
        }
    }

    @Test func `a clear file of an unknown kind is refused without mentioning temporary files`() async throws {
        let folder = try TemporaryFolder()
        try await LiveServices.with { live in
            let run = try await play(live, ["--out", folder.path("clear.xyz")])
            #expect(run.messageCode == "containerRefused")
            #expect(run.error.contains("'clear.xyz'") && run.error.count { $0 == "\n" } == 1)
        }
    }

    @Test func `a wrong picture shows the decoder's words`() async throws {
        try await LiveServices.with(keys: try LiveServices.wrongKeys()) { live in
            let run = try await play(live, [])
            #expect(run.status == 1)
            #expect(run.output.contains("WRONG"))
            #expect(run.error.hasPrefix("ffmpeg: "))
        }
    }

    /// Plays the transport stream through VuDRM.
    /// - Parameters:
    ///   - options: additional arguments.
    ///   - left: arguments to leave out: `token`, `--loopback-http`.
    ///   - folder: the credentials. Defaults to the services'.
    private func play(
        _ live: LiveServices, _ options: [String], without left: Set<String> = [], credentials folder: String? = nil
    ) async throws -> ToolProcess.Outcome {
        let own = try TemporaryFolder()
        try LiveServices.writeCredentials(to: own.file("c"))
        let profile = live.configured(.vuDRM)
        var settings = profile.settings
        if !left.contains("token") { settings["token"] = live.service(for: profile).issueToken().revealedText }
        return try await ToolProcess.run(
            ["play", live.playlist(.transportStream, for: profile), "--vendor", profile.identifier]
                + settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
                + ["--credentials", folder ?? own.path("c")]
                + ["--loopback-http"].filter { !left.contains($0) } + options)
    }
}
