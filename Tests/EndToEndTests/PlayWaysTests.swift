import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// Playback without a server: the vendor's service runs in the tool's own process.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct PlayWaysTests {
    @Test(arguments: ["vudrm", "ezdrm-web"])
    func `a vendor's name is enough to play`(_ vendor: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolProcess.run("play", "--vendor", vendor, "--json", "--frame", folder.path("picture.png"))
        #expect(run.status == 0 && run.error == "", "\(run)")
        #expect(run.json?["right"] as? Bool == true && run.json?["frames"] as? Int == 150)
        #expect(try Data(contentsOf: folder.file("picture.png")).starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }

    @Test func `stored keys play without a network, and AirPlay requests new keys`() async throws {
        let run = try await ToolProcess.run("play", "--vendor", "vudrm", "--offline", "--join", "AirPlay", "--json")
        #expect(run.status == 0 && run.error == "", "\(run)")
        let parts = try #require(run.json?["parts"] as? [[String: Any]])
        #expect(
            parts.map { $0["part"] as? String } == ["stored", "without a network", "on AirPlay, keys requested again"])
        #expect(parts.allSatisfy { $0["right"] as? Bool == true })
        let posts = parts.map { part in
            (part["requests"] as? [[String: Any]] ?? []).count { $0["method"] as? String == "POST" }
        }
        #expect(posts == [2, 0, 2])
        #expect((parts[1]["requests"] as? [Any])?.isEmpty == true)
        #expect(parts.map { $0["frames"] as? Int } == [0, 150, 150])
    }

    @Test func `terms that forbid storage are the reason of a refusal`() async throws {
        try await LiveServices.with { live in
            let folder = try TemporaryFolder()
            try LiveServices.writeCredentials(to: folder.file("c"))
            let profile = live.configured(.vuDRM)
            let run = try await ToolProcess.run(
                ["play", live.playlist(.transportStream, for: profile), "--vendor", profile.identifier, "--offline"]
                    + profile.settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
                    + ["--set", "token=\(live.service(for: profile).issueToken().revealedText)"]
                    + ["--credentials", folder.path("c"), "--loopback-http", "--json"])
            #expect(run.status == 1)
            #expect(run.json?["part"] as? String == "stored")
            #expect(run.json?["error"] != nil)
        }
    }

    @Test(arguments: ["vudrm", "ezdrm", "azure", "cloud-drm-legacy", "expressplay", "nagra", "mux"])
    func `twelve hours of renewals and key changes pass in a moment`(_ vendor: String) async throws {
        let run = try await ToolProcess.run("play", "--vendor", vendor, "--for", "12h", "--virtual", "--json")
        #expect(run.status == 0 && run.error == "", "\(run.output)")
        #expect(run.json?["right"] as? Bool == true)
        #expect(run.json?["segments"] as? Int == 14_400)
        #expect(try #require(run.json?["renewals"] as? Int) > 100)
        #expect(try #require(run.json?["latestRenewal"] as? Double) < 600)
    }

    @Test func `the summary is readable, and the lease is as requested`() async throws {
        let run = try await ToolProcess.run("play", "--vendor", "vudrm", "--for", "2h", "--virtual", "--lease", "20m")
        #expect(run.status == 0, "\(run)")
        #expect(
            run.output.hasPrefix("2 h of a live stream, leases of 20 min, on virtual time\n2400 segments, every one"))
        #expect(run.output.contains("renewed when a license was 13 min"))
        let quiet = try await ToolProcess.run("play", "--vendor", "vudrm", "--virtual", "--quiet")
        #expect(quiet.status == 0 && quiet.output == "")
    }

    @Test(arguments: [
        ["--for", "12h"], ["--lease", "5m"], ["--virtual", "--offline"], ["--virtual", "x.m3u8"],
        ["--virtual", "--for", "12"],
        ["--virtual", "--for", "99999999d"], ["--join", "Bluetooth"], ["--quiet", "--verbose"], ["--credentials", "c"],
        ["x.m3u8"],
    ])
    func `conflicting options are wrong usage, with a message`(_ words: [String]) async throws {
        let run = try await ToolProcess.run(["play", "--vendor", "vudrm"] + words)
        #expect(run.status == 2 && run.output == "" && run.error.hasPrefix("latchkey: "))
    }

    @Test func `only --force replaces a file`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("precious", to: "clear.mp4")
        let words = ["play", "--vendor", "vudrm", "--out", file]
        let refused = try await ToolProcess.run(words)
        #expect(refused.status == 1 && refused.messageCode == "fileExists")
        #expect(try String(contentsOf: folder.file("clear.mp4"), encoding: .utf8) == "precious")
        #expect(try await ToolProcess.run(words + ["--force", "--quiet"]).status == 0)
        #expect(try Data(contentsOf: folder.file("clear.mp4")).count > 10_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["clear.mp4"])
    }

    @Test func `with --verbose, it reports each step on standard error`() async throws {
        let run = try await ToolProcess.run("play", "--vendor", "vudrm", "--verbose")
        #expect(run.status == 0 && run.error.contains("license"))
    }

    @Test func `a token in a file or in the environment plays, and no output has it`() async throws {
        try await LiveServices.with { live in
            let folder = try TemporaryFolder()
            try LiveServices.writeCredentials(to: folder.file("c"))
            let profile = live.configured(.vuDRM)
            let words =
                ["play", live.playlist(.transportStream, for: profile), "--vendor", profile.identifier]
                + profile.settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
                + ["--credentials", folder.path("c"), "--loopback-http", "--json"]
            let service = live.service(for: profile)
            let token = try folder.write(service.issueToken().revealedText + "\n", to: "token")
            #expect(try await ToolProcess.run(words + ["--set", "token=@\(token)"]).status == 0)
            let run = try await ToolProcess.run(
                words, environment: ["LATCHKEY_TOKEN": service.issueToken().revealedText])
            #expect(run.status == 0, "\(run)")
            for secret in service.secrets { #expect(SecretForms(secret).found(in: run.output).isEmpty) }
        }
    }

    @Test func `each SPC says that AirPlay is in use`() async throws {
        try await LiveServices.with { live in
            let folder = try TemporaryFolder()
            try LiveServices.writeCredentials(to: folder.file("c"))
            let module = KeyServerModule(
                credentials: [try KeyServerCredential(directory: folder.file("c"))],
                derivation: InsecureTestDerivation())
            let loader = live.loader(.genericRaw)
            defer { loader.cancel() }
            let player = live.player(loader)
            let address = live.playlist(.transportStream, for: .genericRaw)
            #expect(try await player.keys(of: address).failure == nil)
            #expect(try await player.joining(.airPlay).keys(of: address, purpose: .persistable).failure == nil)
            let destinations = try live.service(for: .genericRaw).requests(at: .license).map {
                try module.open($0.body).destination
            }
            #expect(destinations == [.device, .airPlay])
        }
    }
}
