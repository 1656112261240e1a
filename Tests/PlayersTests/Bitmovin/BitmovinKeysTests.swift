import BitmovinPlayer
import Foundation
import LatchkeyBitmovin
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import Testing

/// Bitmovin's player, which sends the requests itself.
@Suite(.timeLimit(.minutes(8))) struct BitmovinKeysTests {
    @Test(arguments: [
        VendorProfile.vuDRMRaw, .cloudDRM, .ezdrm, .expressPlay, .nagra, .axinom, .drmToday, .doveRunner, .mux, .keyOS,
    ])
    func `a stream of a vendor plays right`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let result = try await play(stage, profile, failures)
            #expect(result.isRight && failures.all.isEmpty && stage.log.violations.isEmpty)
        }
    }

    /// The others look something up for each key, or name it in a header.
    @Test func `every vendor can be set up unless each key needs time`() async throws {
        try await PlayerStage.with { stage in
            var unfit: [String] = []
            for profile in VendorProfile.all {
                do {
                    _ = try await keys(profile, stage, FailureLog())
                } catch {
                    let error = try #require(error as? ContentKeyError)
                    #expect([.unfitForPlayer, .invalidRequest].contains(error.kind) && !error.remedy.isEmpty)
                    unfit.append(profile.identifier)
                }
            }
            #expect(
                unfit.sorted() == ["expressplay-entitlement", "expressplay-token-server", "jw-platform", "kaltura-web"])
        }
    }

    @Test func `a vendor with a session is refused at setup`() async throws {
        try await PlayerStage.with { stage in
            let profile = configured(.nagra, stage).setting("sessionURL", to: "\(stage.address)/nagra/DEMO/ssm/v1")
            let error = await #expect(throws: ContentKeyError.self) {
                try await BitmovinKeys(
                    profile.unchecked, credentials: credentials(profile, stage), onFailure: unexpected)
            }
            #expect(error?.kind == .unfitForPlayer && error?.reason.contains("session") == true)
        }
    }

    @Test func `each closure runs for each key`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let result = try await play(stage, .doveRunner, failures, .twoKeys)
            let names = [
                "prepareContentId", "prepareCertificate", "prepareMessage", "prepareLicenseServerUrl", "prepareLicense",
            ]
            await stage.log.untilCallbacks(names, times: result.keyURIs.count)
            for name in names { #expect(stage.log.contents.count(of: name) == result.keyURIs.count) }
        }
    }

    @Test func `a missing token at setup is an error with its reason`() async throws {
        try await PlayerStage.with { stage in
            let profile = configured(.axinom, stage)
            let error = await #expect(throws: ContentKeyError.self) {
                try await BitmovinKeys(profile.unchecked, hosts: HostPolicy(loopback: .http), onFailure: unexpected)
            }
            #expect(error?.kind == .unfitForPlayer)
            #expect(error?.reason.contains("token") == true)
        }
    }

    @Test func `a license service that only the playlist names is unused`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let source = SourceConfig(url: stage.playlist(for: .expressPlay), type: .hls)
            try await keys(.expressPlay, stage, failures).protect(source)
            let config = try #require(source.drmConfig as? FairplayConfig)
            #expect(config.prepareLicenseServerUrl?("skd://evil.example/license") == "")
            #expect(failures.all.first?.key == "skd://evil.example/license")
            #expect(failures.codes == ["hostRefused"])
        }
    }

    @Test func `a reply without a license is nothing to the player and one error to the app`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            stage.service(for: .drmToday).environment.faults.set(.htmlPage, at: .license)
            await #expect(throws: NSError.self) { try await play(stage, .drmToday, failures) }
            #expect(failures.codes == ["licenseMalformed"])
            #expect(failures.all.allSatisfy { $0.isComplete })
            #expect(stage.secrets(in: failures.text).isEmpty)
        }
    }

    private func play(
        _ stage: PlayerStage, _ profile: VendorProfile, _ failures: FailureLog, _ asset: DemoAsset = .transportStream
    ) async throws -> StandInPlayback.Result {
        let sourceConfig = SourceConfig(url: stage.playlist(asset, for: profile), type: .hls)
        try await keys(profile, stage, failures).protect(sourceConfig)
        let source = SourceFactory.create(from: sourceConfig)
        let player = PlayerFactory.create()
        player.load(source: source)
        player.play()
        return try await #require(source.standIn).finished()
    }

    private func keys(
        _ profile: VendorProfile, _ stage: PlayerStage, _ failures: FailureLog
    ) async throws -> BitmovinKeys {
        try await BitmovinKeys(
            configured(profile, stage).unchecked, credentials: credentials(profile, stage),
            hosts: HostPolicy(loopback: .http),
            onFailure: failures.add)
    }

    private func configured(_ profile: VendorProfile, _ stage: PlayerStage) -> VendorProfile {
        let service = stage.service(for: profile)
        let names = profile.parameters.map(\.name)
        return service.parameters(at: "\(stage.address)/\(service.identifier)", for: profile.identifier)
            .filter { names.contains($0.key) && $0.key != "sessionURL" }
            .reduce(profile) { $0.setting($1.key, to: $1.value) }
    }

    private func credentials(_ profile: VendorProfile, _ stage: PlayerStage) -> Credentials {
        let service = stage.service(for: profile)
        return Credentials { _ in CredentialSet(["token": service.issueWithoutSession()]) }
    }
}
