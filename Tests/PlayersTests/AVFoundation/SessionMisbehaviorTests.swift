import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// AVFoundation's observed errors: each time the keys or an error arrives, and the adapter breaks no rule.
@Suite(.timeLimit(.minutes(5))) struct SessionMisbehaviorTests {
    /// Misbehavior that does not keep a stream from playing.
    private static let survivable: [Misbehavior] = [
        .callsBackTwice, .completesTwice, .callsOnOddThreads, .releasesLate, .releasesEarly, .repeatsIdentifiers,
        .switchesToAirPlay,
    ]

    @Test(arguments: survivable, DemoAsset.allCases)
    func `a stream still plays`(_ misbehavior: Misbehavior, _ asset: DemoAsset) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(asset))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: survivable)
    func `a stored stream still plays`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior]), terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            try await loader.offline?.register("movie", keys: stage.keys(of: .twoKeys))
            let app = AVApp(loader, playing: stage.playlist(.twoKeys))
            let result = try await app.play()
            #expect(result.isRight)
            let asset = try await loader.offline?.asset("movie")
            #expect(asset?.isReady == true)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [Misbehavior.cancelsMidway, .completesWithNothing, .resetsMediaServices])
    func `a stream that cannot play fails with an error`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(.twoKeys))
            await #expect(throws: (any Error).self) { try await app.play() }
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a player that drops its delegate leaves no request unanswered`() async throws {
        try await PlayerStage.with(StandInBehavior([.dropsDelegate])) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(.transportStream))
            let result = try await app.play()
            #expect(result.isRight)
            app.keys.release()
            #expect(stage.log.violations.isEmpty)
        }
    }
}
