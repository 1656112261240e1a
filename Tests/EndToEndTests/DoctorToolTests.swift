import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// Runs `latchkey doctor` against a live service with one fault.
@Suite(.serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct DoctorToolTests {
    /// The findings of the tool: the results of each step in order, and the codes.
    private struct Findings {
        let status: Int32
        let steps: [String: [String]]
        let codes: [String]
        let text: String

        init(_ outcome: ToolProcess.Outcome) throws {
            status = outcome.status
            text = outcome.output + outcome.error
            let json = try #require(outcome.json)
            // A busy machine may be slow.
            let checks = try #require(json["checks"] as? [[String: String]]).filter { $0["code"] != "slowReply" }
            steps = Dictionary(checks.map { ($0["step"] ?? "", [$0["result"] ?? ""]) }, uniquingKeysWith: +)
            codes = checks.compactMap { $0["code"] }
            #expect(json["healthy"] as? Bool == !checks.contains { $0["result"] == "error" })
            #expect((status == 0) == (json["healthy"] as? Bool == true))
            #expect(checks.allSatisfy { ["ok", "skipped"].contains($0["result"]) || $0["remedy"]?.isEmpty == false })
        }
    }

    private func doctor(
        _ live: LiveServices, _ profile: VendorProfile = .vuDRM, asset: DemoAsset = .twoKeys, playlist: String? = nil,
        without left: Set<String> = [], settings: [String: String] = [:], device: [String]? = nil
    ) async throws -> Findings {
        let own = try TemporaryFolder()
        try LiveServices.writeCredentials(to: own.file("c"))
        let configured = live.configured(profile)
        var set = configured.settings
        if profile.parameters.contains(where: { $0.name == "token" }) {
            set["token"] = live.tokens(for: profile)
        }
        set = set.merging(settings) { $1 }.filter { !left.contains($0.key) }
        let words =
            ["doctor", playlist ?? live.playlist(asset, for: profile), "--vendor", profile.identifier]
            + set.flatMap { ["--set", "\($0.key)=\($0.value)"] }
            + (device ?? ["--credentials", own.path("c")]) + ["--loopback-http", "--json"]
        let findings = try Findings(try await ToolProcess.run(words))
        for secret in live.service(for: profile).secrets {
            #expect(SecretForms(secret).found(in: findings.text).isEmpty)
        }
        return findings
    }

    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .azure, .ezdrm, .verimatrix, .titanium, .nagra])
    func `a correct setup has no findings`(_ profile: VendorProfile) async throws {
        try await LiveServices.with(lenient: []) { live in
            let found = try await doctor(live, profile)
            #expect(found.status == 0 && found.codes.isEmpty, "\(found.text)")
            #expect(
                found.steps
                    == [
                        "settings": ["ok"], "playlist": ["ok"], "identifier": ["ok", "ok"], "token": ["ok"],
                        "network": ["ok"], "certificate": ["ok"], "license": ["ok", "ok"], "media": ["ok", "ok"],
                        "clock": ["ok"],
                    ].merging(profile == .nagra ? ["session": ["ok"]] : [:]) { $1 })
        }
    }

    @Test(arguments: [true, false])
    func `a token for one license that answered an earlier key is named`(_ isForOne: Bool) async throws {
        try await LiveServices.with(lenient: isForOne ? [] : LiveServices.lenient) { live in
            let token = live.service(for: .vuDRM).issueToken().revealedText
            let found = try await doctor(live, settings: ["token": token])
            #expect(found.steps["license"] == (isForOne ? ["ok", "error"] : ["ok", "ok"]), "\(found.text)")
            for words in ["came with the same token", "If it is, request one license with --licenses 1"] {
                #expect(found.text.contains(words) == isForOne, "\(found.text)")
            }
        }
    }

    @Test(arguments: [
        (Fault.status(403), ServiceEndpoint.license, "license", "forbidden"),
        (.htmlPage, .license, "license", "licenseMalformed"),
        (.status(404), .certificate, "certificate", "notFound"),
        (.htmlPage, .certificate, "certificate", "certificateMalformed"),
        (.status(503), .license, "license", "serverTransient"),
    ])
    func `a service's fault is found at its step, with its code`(
        _ fault: Fault, _ endpoint: ServiceEndpoint, _ step: String, _ code: String
    ) async throws {
        try await LiveServices.with { live in
            live.service(for: .vuDRM).faults.set(fault, at: endpoint)
            let found = try await doctor(live, asset: .transportStream)
            #expect(found.status == 1 && found.codes.contains(code), "\(found.text)")
            #expect(found.steps[step] == ["error"] && found.steps["playlist"] == ["ok"])
            // Each request is sent once.
            #expect(live.service(for: .vuDRM).requests(at: endpoint).count <= 2)
        }
    }

    @Test(
        arguments: [
            ("nagra", .sessionSetup, "session", "session service"),
            ("expressplay-entitlement", .entitlement, "lookup", "entitlement or delivery service"),
            ("jw-platform", .delivery, "lookup", "entitlement or delivery service"),
        ] as [(String, ServiceEndpoint, String, String)])
    func `a failure before the license is reported at its own step and address and blames no key`(
        _ name: String, _ endpoint: ServiceEndpoint, _ step: String, _ remedy: String
    ) async throws {
        let profile = try #require(VendorProfile.named(name))
        try await LiveServices.with { live in
            live.service(for: profile).faults.set(.status(404), at: endpoint)
            let found = try await doctor(live, profile, asset: .transportStream)
            #expect(found.status == 1 && found.steps[step] == ["error"], "\(found.text)")
            #expect(found.steps["license"] == ["skipped"] && found.text.contains(remedy), "\(found.text)")
            #expect(found.text.contains("http://127.0.0.1") && !found.text.contains("content's key"))
        }
    }

    @Test func `without the token it checks the playlist and requests no license`() async throws {
        try await LiveServices.with { live in
            let found = try await doctor(live, without: ["token"])
            #expect(found.codes == ["missingCredential"] && found.steps["settings"] == ["error"])
            #expect(found.steps["playlist"] == ["ok"] && found.steps["license"] == ["skipped"])
            #expect(live.service(for: .vuDRM).requests(at: .license).isEmpty)
        }
    }

    @Test func `an expired token is named before the service refuses it`() async throws {
        try await LiveServices.with { live in
            let claims = Data(#"{"exp":1500000000,"iss":"i","aud":"a"}"#.utf8).base64EncodedString()
            let found = try await doctor(live, .azure, settings: ["token": "eyJhbGciOiJIUzI1NiJ9.\(claims).c2ln"])
            #expect(found.codes.contains("expired") && found.steps["token"] == ["error"], "\(found.text)")
        }
    }

    @Test func `a missing playlist still lets the certificate be checked`() async throws {
        try await LiveServices.with { live in
            let found = try await doctor(live, playlist: "\(live.address)/media/vudrm/none/master.m3u8")
            #expect(found.status == 1 && found.steps["playlist"] == ["error"], "\(found.text)")
            #expect(found.steps["certificate"] == ["ok"] && found.steps["license"] == ["skipped"])
        }
    }

    @Test func `a stream without keys has its media checked`() async throws {
        let folder = try TemporaryFolder()
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n".utf8).write(
            to: folder.file("p.m3u8"))
        try await LiveServices.with { live in
            let found = try await doctor(live, playlist: folder.path("p.m3u8"))
            #expect(found.codes == ["segmentUnreadable"] && found.steps["license"] == nil)
        }
    }

    @Test func `keys with the same content identifier are a warning`() async throws {
        try await LiveServices.with { live in
            // The host of the key URI names the key, and the demo stream's two keys have one host.
            let found = try await doctor(live, .expressPlay)
            #expect(found.status == 0 && found.codes == ["identifiersNotDistinct"], "\(found.text)")
            #expect(found.steps["identifier"] == ["ok", "ok", "warning"])
        }
    }

    @Test func `an SPC from elsewhere is sent if valid, and the answer is reported`() async throws {
        let folder = try TemporaryFolder()
        try Data("no SPC".utf8).write(to: folder.file("bad.spc"))
        try LiveServices.writeCredentials(to: folder.file("c"))
        try await LiveServices.with { live in
            let key = try #require(live.service(for: .vuDRM).environment.authority.keys.keys.first)
            let made = try await ToolProcess.run(
                "spc", "--credentials", folder.path("c"), "--content-id", "\(key.id)", "--out", folder.path("good.spc"),
                "--state",
                folder.path("s"))
            #expect(made.status == 0)
            let good = try await doctor(live, asset: .transportStream, device: ["--spc", folder.path("good.spc")])
            #expect(good.status == 0 && good.steps["license"] == ["ok"], "\(good.text)")
            let bad = try await doctor(live, asset: .transportStream, device: ["--spc", folder.path("bad.spc")])
            #expect(bad.status == 1 && bad.steps["spc"] == ["error"] && bad.steps["license"] == ["skipped"])
        }
    }

    @Test func `people get a line per step and a summary`() async throws {
        try await LiveServices.with { live in
            let run = try await ToolProcess.run(
                "doctor", live.playlist(.transportStream, for: .vuDRM), "--vendor", "vudrm", "--loopback-http")
            #expect(run.status == 1)
            #expect(
                run.output.contains(/ERROR +settings +vudrm needs token/) && run.output.contains("'token=@FILE'")
                    && run.output.contains(/ok +playlist +1 FairPlay key/))
            #expect(run.output.contains(/[0-9] errors?, 0 warnings\n$/))
        }
    }
}
