import AVFoundation
import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTVSDK
import LatchkeyTesting
import LatchkeyVendors
import PSDKLibrary
import StandInEngine
import Testing

/// Adobe TVSDK's players with one resource loader for all.
@Suite(.timeLimit(.minutes(2))) struct TVSDKKeysTests {
    /// The three use cases of Adobe's guide: a server of the customer's own, an entitlement server, a token URL as key URI.
    @Test(arguments: [VendorProfile.expressPlayOnPremise, .expressPlayEntitlement, .expressPlay])
    func `a stream plays right with each use case of ExpressPlay`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = TVSDKApp(stage, stage.loader(profile))
            let result = try await app.play(for: profile)
            #expect(result.isRight)
            await stage.log.untilCallback("resourceLoader", times: result.keyURIs.count)
            #expect(stage.log.contents.count(of: "resourceLoader") == result.keyURIs.count)
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .irdeto, .drmToday, .mux, .ezdrm, .doveRunner, .nagra])
    func `a stream of any vendor plays`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = TVSDKApp(stage, stage.loader(profile))
            let result = try await app.play(.twoKeys, for: profile)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test func `items of several vendors play together with one resource loader`() async throws {
        try await PlayerStage.with { stage in
            let (express, irdeto) = (stage.loader(.expressPlay), stage.loader(.irdeto))
            let others = Set((0...1).map { stage.key($0, for: .irdeto) })
            let app = TVSDKApp(stage, express) { others.contains($0) ? irdeto : nil }
            async let first = app.play(.twoKeys, for: .expressPlay)
            async let second = app.play(.twoKeys, for: .irdeto)
            let (one, two) = try await (first, second)
            #expect(one.isRight && two.isRight && app.failures.all.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [Misbehavior.repeatsIdentifiers, .switchesToAirPlay, .releasesLate, .callsBackTwice])
    func `a stream plays despite a misbehaving SDK`(_ misbehavior: Misbehavior) async throws {
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
            await app.failures.until(1)
            #expect(app.failures.codes == ["forbidden"])
            #expect(app.failures.all.allSatisfy { $0.isComplete })
            #expect(stage.secrets(in: app.failures.text).isEmpty)
        }
    }

    @Test func `open requests end once when the keys are released`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let app = TVSDKApp(stage, stage.loader(.vuDRM))
            let playing = Task { try await app.play(for: .vuDRM) }
            await service.untilLicenses(1)
            app.keys.release()
            await #expect(throws: (any Error).self) { try await playing.value }
            service.open()
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test func `a renewal that an SDK passes on, as AVFoundation's protocol has it, is taken`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let failures = FailureLog()
            let keys = TVSDKKeys(stage.loader(.ezdrm, lease: .seconds(600))) { failures.add($0) }
            let passing = PassingLoader(keys)
            let asset = AVURLAsset(url: stage.playlist(for: .ezdrm))
            asset.resourceLoader.setDelegate(passing, queue: DispatchQueue(label: "com.adobe.psdk.loader"))
            let result = try await AVApp.play(asset)
            #expect(result.isRight)
            await stage.time.untilSomeoneSleeps()
            stage.time.advance(by: .seconds(460))
            await stage.service(for: .ezdrm).untilLicenses(2)
            await stage.log.untilCallback("shouldWaitForRenewal")
            #expect(failures.all.isEmpty && stage.log.violations.isEmpty)
            withExtendedLifetime(passing) {}
        }
    }

    @Test func `a request for something else is left to the SDK`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let keys: any PTAVAssetResourceLoaderDelegate = TVSDKKeys(stage.loader()) { failures.add($0) }
            #expect(!keys.resourceLoader(nil, shouldWaitForLoadingOfRequestedResource: nil))
            #expect(failures.all.isEmpty)
        }
    }
}

/// An SDK's own loader delegate that passes everything on.
private final class PassingLoader: NSObject, AVAssetResourceLoaderDelegate {
    private let keys: TVSDKKeys

    init(_ keys: TVSDKKeys) { self.keys = keys }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool { keys.resourceLoader(resourceLoader, shouldWaitForLoadingOfRequestedResource: loadingRequest) }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool { keys.resourceLoader(resourceLoader, shouldWaitForRenewalOfRequestedResource: renewalRequest) }
}

/// An app on TVSDK: the registered resource loader, and the failures that it reported.
struct TVSDKApp {
    let stage: PlayerStage
    let failures = FailureLog()
    let keys: TVSDKKeys

    init(
        _ stage: PlayerStage, _ loader: ContentKeyLoader,
        loaderFor: @escaping @Sendable (KeyURI) -> ContentKeyLoader? = { _ in nil }
    ) {
        self.stage = stage
        keys = TVSDKKeys(loader, loaderFor: loaderFor, onFailure: failures.add)
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
