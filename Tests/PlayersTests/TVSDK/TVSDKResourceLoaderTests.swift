import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTVSDK
import LatchkeyVendors
import PSDKLibrary
import StandInEngine
import Testing

/// Adobe TVSDK's players with one resource loader for all.
@Suite(.timeLimit(.minutes(2))) struct TVSDKResourceLoaderTests {
    /// The three use cases of Adobe's guide: a server of the customer's own, an entitlement server, a token URL as key URI.
    @Test(arguments: [VendorProfile.expressPlayOnPremise, .expressPlayEntitlement, .expressPlay])
    func `a stream plays right with each use case of ExpressPlay`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = TVSDKApp(stage, stage.loader(profile))
            let result = try await app.play(for: profile)
            #expect(result.isRight)
            #expect(stage.log.callbacks.count { $0.name == "resourceLoader" } == result.keyURIs.count)
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .irdeto, .drmToday, .mux, .ezdrm, .doveRunner, .nagra])
    func `a stream of any vendor plays`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = TVSDKApp(stage, stage.loader(profile))
            let result = try await app.play(.twoKeys, for: profile)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
        }
    }

    @Test func `items of several vendors play at the same time with the one resource loader`() async throws {
        try await PlayerStage.with { stage in
            let (express, irdeto) = (stage.loader(.expressPlay), stage.loader(.irdeto))
            let others = Set((0...1).map { stage.key($0, for: .irdeto) })
            let app = TVSDKApp(stage, express) { others.contains($0) ? irdeto : nil }
            async let first = app.play(.twoKeys, for: .expressPlay)
            async let second = app.play(.twoKeys, for: .irdeto)
            let (one, two) = try await (first, second)
            #expect(one.isRight && two.isRight && app.errors.all.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [Misbehavior.repeatsIdentifiers, .switchesToAirPlay, .releasesLate, .callsBackTwice])
    func `a stream plays through an SDK that misbehaves`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = TVSDKApp(stage, stage.loader(.expressPlay))
            let result = try await app.play(.twoKeys, for: .expressPlay)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a refusal is one error to the player and to the app, without a secret`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .expressPlay).environment.faults.set(.status(403), at: .license)
            let app = TVSDKApp(stage, stage.loader(.expressPlay))
            await #expect(throws: NSError.self) { try await app.play(for: .expressPlay) }
            await app.errors.until(1)
            #expect(app.errors.codes == ["forbidden"])
            #expect(app.errors.all.allSatisfy { $0.isComplete })
            #expect(stage.secrets(in: app.errors.text).isEmpty)
        }
    }

    @Test func `a request for anything but a key is left to the SDK`() async throws {
        try await PlayerStage.with { stage in
            let errors = ErrorLog()
            let keys: any PTAVAssetResourceLoaderDelegate = TVSDKResourceLoader(stage.loader()) { errors.add($1) }
            #expect(!keys.resourceLoader(nil, shouldWaitForLoadingOfRequestedResource: nil))
            #expect(errors.all.isEmpty)
        }
    }
}

/// An app on TVSDK: the registered resource loader, and the errors that it told of.
struct TVSDKApp {
    let stage: PlayerStage
    let errors = ErrorLog()

    init(
        _ stage: PlayerStage, _ loader: ContentKeyLoader,
        choosing: @escaping @Sendable (KeyURI) -> ContentKeyLoader? = { _ in nil }
    ) {
        self.stage = stage
        let keys = TVSDKResourceLoader(loader, choosing: choosing) { [errors] in errors.add($1) }
        keys.register()
    }

    func play(
        _ asset: DemoAsset = .transportStream, for profile: VendorProfile
    ) async throws -> StandInPlayback.Result {
        let item = PTMediaPlayerItem(
            url: stage.playlist(asset, for: profile), mediaId: "demo", metadata: PTMetadata())
        let player = try #require(PTMediaPlayer(mediaPlayerItem: item))
        player.play()
        return try await player.standIn.finished()
    }
}
