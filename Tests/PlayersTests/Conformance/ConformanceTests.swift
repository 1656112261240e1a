import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// The rules for every adapter: each request of a player is answered once, whatever happens.
///
/// The stand-ins log each broken rule of their SDKs: a second answer, no answer, an answer after the end, a blocked queue.
@Suite(.timeLimit(.minutes(5))) struct ConformanceTests {
    // MARK: One answer

    @Test(arguments: PlayerUnderTest.all, DemoAsset.allCases)
    func `a stream plays right with one license per key`(_ player: PlayerUnderTest, _ stream: DemoAsset) async throws {
        try await conform(player, stream) { stage, app in
            let result = try await app.play()
            #expect(result.isRight && result.keyURIs.count == (stream == .transportStream ? 1 : 2))
            #expect(stage.home.licenses == result.keyURIs.count)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own } || !player.can(.returnsAtOnce))
            #expect(app.errors.isEmpty)
        }
    }

    @Test(arguments: PlayerUnderTest.all(that: .keysInParallel))
    func `licenses of several keys are requested concurrently`(_ player: PlayerUnderTest) async throws {
        try await conform(player, .twoKeys) { stage, app in
            stage.home.hold()
            async let played = app.play()
            await stage.home.untilLicenses(2)
            stage.home.open()
            let result = try await played
            #expect(result.isRight)
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `a refusal is one complete error for the app or the player`(_ player: PlayerUnderTest) async throws {
        try await conform(player) { stage, app in
            stage.home.faults.set(.htmlPage, at: .license)
            let thrown = try #require(await app.failure())
            #expect(!(thrown as NSError).domain.isEmpty)
            #expect(app.errors.count == 1)
            #expect((PlayerUnderTest.cause(of: thrown) != nil) == player.can(.tellsPlayer))
            let heard = app.errors + [PlayerUnderTest.cause(of: thrown)].compactMap { $0 }
            #expect(!heard.isEmpty && heard.allSatisfy { $0.isComplete && $0.latchkeyCode == "licenseMalformed" })
            #expect(stage.secrets(in: heard.map(\.everything).joined()).isEmpty)
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `a player that moves to another stream gets one end`(_ player: PlayerUnderTest) async throws {
        try await conform(player) { stage, app in
            stage.home.hold()
            async let failure = app.failure()
            await stage.home.untilLicenses(1)
            app.leave()
            // If it cannot be ended, the answer comes, and is the only one.
            if !player.can(.loaderHolds) { stage.home.open() }
            let thrown = await failure
            if player.can(.loaderHolds) { #expect(thrown != nil) }
            stage.home.open()
            #expect(app.errors.allSatisfy { $0.latchkeyCode == "cancelled" })
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `a player that gives up midway gets nothing more`(_ player: PlayerUnderTest) async throws {
        try await conform(player, behavior: [.cancelsMidway]) { stage, app in
            #expect(await app.failure() != nil)
            #expect(app.errors.isEmpty)
        }
    }

    @Test(arguments: PlayerUnderTest.all(that: .loaderRequests))
    func `a silent service costs the deadline, and its late answer is dropped`(
        _ player: PlayerUnderTest
    ) async throws {
        try await conform(player, deadline: .seconds(30)) { stage, app in
            stage.home.hold()
            async let failure = app.failure()
            await stage.home.untilLicenses(1)
            await stage.time.untilSomeoneSleeps(for: .seconds(30))
            stage.time.advance(by: .seconds(30))
            let thrown = try #require(await failure)
            let heard = app.errors + [PlayerUnderTest.cause(of: thrown)].compactMap { $0 }
            #expect(!heard.isEmpty && heard.allSatisfy { $0.isComplete && $0.latchkeyCode == "deadlineExceeded" })
            stage.home.open()
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `open requests end once when the app drops its objects`(_ player: PlayerUnderTest) async throws {
        try await conform(player) { stage, app in
            stage.home.hold()
            async let failure = app.failure()
            await stage.home.untilLicenses(1)
            app.drop()
            // If the player holds them, the answer comes, and is the only one.
            if !player.can(.endsWithItsObjects) { stage.home.open() }
            let thrown = await failure
            if player.can(.endsWithItsObjects) { #expect(thrown != nil) }
            stage.home.open()
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `an app that drops its objects after playing leaves nothing behind`(_ player: PlayerUnderTest) async throws {
        let isGone = Gate()
        try await PlayerStage.with { stage in
            let app = try await ConformingApp(player, on: stage, stage.loader(.home, holding: Witness(isGone)))
            #expect(try await app.play().isRight)
            app.drop()
        }
        // A leak ends at the suite's time limit.
        await isGone.wait()
    }

    // MARK: Queues

    @Test(arguments: PlayerUnderTest.all(that: .returnsAtOnce))
    func `a callback returns before the service answers, and blocks no main thread`(
        _ player: PlayerUnderTest
    ) async throws {
        try await conform(player) { stage, app in
            stage.home.hold()
            async let played = app.play()
            await stage.home.untilLicenses(1)
            // The log notes callbacks when they return.
            await stage.log.untilCallback(player.licenseCallback)
            await MainActor.run {}
            stage.home.open()
            let result = try await played
            #expect(result.isRight)
        }
    }

    @Test(arguments: PlayerUnderTest.all.filter { !$0.can(.returnsAtOnce) })
    func `an adapter waits on the player's thread, never on the main thread`(
        _ player: PlayerUnderTest
    ) async throws {
        try await conform(player, behavior: [.callsOnMainThread]) { stage, app in
            #expect(await app.failure() != nil)
            #expect(app.errors.contains { $0.latchkeyCode == "threadMustNotWait" && $0.isComplete })
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `callbacks run on the player's or the adapter's queues`(_ player: PlayerUnderTest) async throws {
        try await conform(player, .twoKeys) { stage, app in
            _ = try await app.play()
            let places = Set(stage.log.callbacks.map(\.place))
            #expect(
                places.allSatisfy { $0.hasPrefix("com.") && !$0.hasPrefix("com.apple.") || $0.hasPrefix("latchkey.") })
        }
    }
}

/// Opens a gate when it is deallocated.
private final class Witness: Sendable {
    let isGone: Gate

    init(_ isGone: Gate) { self.isGone = isGone }

    deinit { isGone.open() }
}
