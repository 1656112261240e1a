import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

/// Runs `latchkey doctor` on setups with one fault each: it names the one true cause, and sends no secret if bytes alone show the
/// cause.
@Suite(
    .serialized, .enabled(if: ToolProcess.isThere && TestAuthority.isThere, "needs the built tool and openssl"),
    .timeLimit(.minutes(5)))
struct DoctorSabotageTests {
    static let setups =
        DoctorSetup.playlists + DoctorSetup.keyTags + DoctorSetup.identifiers + DoctorSetup.settings
        + DoctorSetup.tokens
        + DoctorSetup.recordedSPCs + DoctorSetup.certificates + DoctorSetup.network + DoctorSetup.envelopes
        + DoctorSetup.keysAndIVs + DoctorSetup.segments

    @Test(arguments: setups)
    func `the cause is named first`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with(keys: setup.keys?()) { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let found = try await stage.diagnose()
            await stage.stop()
            #expect(found.cause == setup.cause, "\(found.text)")
            #expect(setup.words.allSatisfy(found.text.contains), "\(found.text)")
            if setup.sendsNothing {
                #expect(!found.sentSecrets, "\(found.text)")
                #expect(stage.service.requests(at: .license).isEmpty)
            }
        }
    }

    /// All findings on a correct setup are wrong, except slowness of a busy machine.
    @Test(arguments: StreamTests.emulated)
    func `a correct setup has no findings`(_ name: String) async throws {
        let profile = try #require(VendorProfile.named(name))
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, profile, .transportStream)
            let found = try await stage.diagnose()
            #expect(found.codes.filter { $0 != "slowReply" }.isEmpty && found.status == 0, "\(found.text)")
            #expect(found.checks.contains { $0["step"] == "license" && $0["result"] == "ok" })
            #expect(found.checks.contains { $0["step"] == "media" && $0["result"] == "ok" }, "\(found.text)")
        }
    }

    @Test(arguments: DemoAsset.allCases)
    func `a correct stream passes in every container`(_ asset: DemoAsset) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, asset)
            let found = try await stage.diagnose()
            #expect(found.codes.filter { $0 != "slowReply" }.isEmpty && found.status == 0, "\(found.text)")
            #expect(found.checks.count { $0["step"] == "media" && $0["result"] == "ok" } == asset.keyCount)
        }
    }

    @Test(arguments: [([], 8), (["--licenses", "3"], 3)])
    func `of 300 keys only the allowed number is requested`(_ options: [String], _ count: Int) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .transportStream)
            stage.options += options
            try stage.rewritePlaylists { name, text in
                guard name == "video.m3u8",
                    let tag = text.split(separator: "\n").first(where: { $0.hasPrefix("#EXT-X-KEY") })
                else {
                    return text.split(separator: "\n").filter { !$0.contains("SESSION-KEY") }.joined(separator: "\n")
                }
                let keys = (0..<300).map {
                    "\(tag.replacing("license/video", with: "license/k\($0)"))\n#EXTINF:2,\nv/1.ts"
                }
                return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(keys.joined(separator: "\n"))\n#EXT-X-ENDLIST\n"
            }
            let found = try await stage.diagnose()
            #expect(stage.service.requests(at: .license).count == count, "\(found.text)")
            #expect(found.checks.count <= 40)
        }
    }

    @Test func `the first line names cause and remedy, and says that nothing was sent`() async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .transportStream)
            _ = try stage.makeOtherCredentials()
            try await stage.recordSPC(with: "other")
            let run = try await ToolProcess.run(
                ["doctor", stage.playlist, "--vendor", "vudrm"]
                    + stage.settings.flatMap { ["--set", "\($0.key)=\($0.value)"] } + stage.device + stage.options)
            let first = run.output.split(separator: "\n").first ?? ""
            #expect(first.hasPrefix("The SPC was made for another certificate than the service's: "))
            #expect(first.hasSuffix("Ship the service's certificate in the app. Nothing secret was sent."))
        }
    }
}
