import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// Streams whose keys come through the resource loader.
@Suite(.timeLimit(.minutes(5))) struct ResourceLoaderKeysTests {
    private final class LoaderApp: Sendable {
        let keys: ResourceLoaderKeys
        let asset: AVURLAsset
        let failures = FailureLog()

        init(_ loader: ContentKeyLoader, playing url: URL) {
            keys = ResourceLoaderKeys(loader, onFailure: failures.add)
            asset = AVURLAsset(url: url)
            keys.protect(asset)
        }

        func play() async throws -> StandInPlayback.Result { try await AVApp.play(asset) }
    }

    @Test func `a lease is renewed at the date given to the player`() async throws {
        let lease = Duration.seconds(600)
        try await PlayerStage.with(terms: LicenseTerms(.lease(lease))) { stage in
            let app = LoaderApp(stage.loader(lease: lease), playing: stage.playlist())
            _ = try await app.play()
            for renewal in 1...2 {
                stage.time.advance(by: .seconds(450))
                await stage.log.untilCallback("shouldWaitForRenewal", times: renewal)
                await stage.service(for: .vuDRM).untilLicenses(1 + renewal)
                // The player gets the next date with the key.
                await stage.time.untilSomeoneSleeps(for: .seconds(450))
            }
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(app.failures.all.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a request cancelled by the player is not finished`() async throws {
        try await PlayerStage.with(StandInBehavior([.cancelsMidway])) { stage in
            let app = LoaderApp(stage.loader(), playing: stage.playlist())
            await #expect(throws: (any Error).self) { try await app.play() }
            #expect(stage.log.contents.count(of: "didCancelLoading") >= 1)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(app.failures.all.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a refusal is the item's error`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
            let app = LoaderApp(stage.loader(), playing: stage.playlist())
            let thrown = await #expect(throws: (any Error).self) { try await app.play() }
            let error = try #require(thrown) as NSError
            #expect(error.domain == ContentKeyError.errorDomain && error.code == 210)
            #expect(app.failures.all.first?.loaderError?.service?.status == 403)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `open requests end once when one asset or all are released`(_ isForAsset: Bool) async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let app = LoaderApp(stage.loader(), playing: stage.playlist())
            let playing = Task { try await app.play() }
            await service.untilLicenses(1)
            if isForAsset { app.keys.release(app.asset) } else { app.keys.release() }
            await #expect(throws: (any Error).self) { try await playing.value }
            service.open()
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `keys requested by the app are stored and need no network next time`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            try await loader.offline?.register("movie", keys: stage.keys(of: .transportStream))
            let first = try await LoaderApp(loader, playing: stage.playlist()).play()
            let fetched = stage.service(for: .vuDRM).licenses
            stage.service(for: .vuDRM).faults.set(.status(500), at: .license)
            let second = try await LoaderApp(loader, playing: stage.playlist()).play()
            #expect(first.isRight && second.isRight)
            #expect(stage.service(for: .vuDRM).licenses == fetched)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .releasesLate, .releasesEarly, .repeatsIdentifiers,
        .switchesToAirPlay,
    ])
    func `a player that errs still plays`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = LoaderApp(stage.loader(), playing: stage.playlist(.twoKeys))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }
}
