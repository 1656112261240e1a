import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// Every adapter with every misbehavior of a player: there is one answer or one error, and no rule is broken.
@Suite(.timeLimit(.minutes(5))) struct MisbehaviorTests {
    @Test(arguments: PlayerUnderTest.all, Misbehavior.allCases)
    func `a faulty player gets one answer or one error`(
        _ player: PlayerUnderTest, _ misbehavior: Misbehavior
    ) async throws {
        let stream: DemoAsset = Self.concernsKeys.contains(misbehavior) ? .twoKeys : .transportStream
        try await conform(player, stream, behavior: [misbehavior]) { stage, app in
            async let failure = app.failure()
            if misbehavior == .reordersKeys, let timeout = player.spcTimeout {
                await stage.time.untilSomeoneSleeps(for: timeout)
                stage.time.advance(by: timeout)
            }
            if let thrown = await failure {
                let heard = app.errors + [PlayerUnderTest.cause(of: thrown)].compactMap { $0 }
                #expect(heard.allSatisfy { $0.isComplete })
                #expect(!Self.harmless.contains(misbehavior), "\(thrown)")
            } else {
                #expect(app.errors.isEmpty)
            }
        }
    }

    /// Misbehavior that concerns several keys. The rest play the stream with one key, which decodes in half the time.
    private static let concernsKeys: Set<Misbehavior> = [
        .callsBackTwice, .callsOnOddThreads, .repeatsIdentifiers, .reordersKeys,
    ]

    /// Misbehavior that keeps no player from playing.
    private static let harmless: Set<Misbehavior> = [
        .callsBackTwice, .completesTwice, .callsOnOddThreads, .releasesLate, .releasesEarly, .repeatsIdentifiers,
        .switchesToAirPlay, .dropsDelegate, .reordersKeys,
    ]
}
