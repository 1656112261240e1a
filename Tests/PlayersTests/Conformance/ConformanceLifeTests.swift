import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// The rules for every adapter after the first answer: renewals, stored keys, and secrets that must not show.
@Suite(.timeLimit(.minutes(5))) struct ConformanceLifeTests {
    private static let lease = Duration.seconds(600)

    @Test(arguments: PlayerUnderTest.all(that: .renewal))
    func `a lease is renewed before its end`(_ player: PlayerUnderTest) async throws {
        try await conform(player, lease: Self.lease) { stage, app in
            let purposes = PurposeLog(app.loader)
            let result = try await app.play()
            if let renew = app.renew {
                await renew()
            } else {
                await stage.time.untilSomeoneSleeps()
                stage.time.advance(by: .seconds(460))
            }
            await stage.home.untilLicenses(2)
            if player.can(.loaderHolds) { await purposes.until(.renewal, times: 1) }
            #expect(result.isRight && app.errors.isEmpty)
        }
    }

    @Test(arguments: PlayerUnderTest.all.filter { !$0.can(.renewal) })
    func `without renewals a lease ends with one error`(_ player: PlayerUnderTest) async throws {
        try await conform(player, lease: Self.lease) { stage, app in
            _ = try await app.play()
            await stage.passTime { !app.errors.isEmpty }
            #expect(app.errors.count == 1)
            #expect(app.errors.allSatisfy { $0.isComplete && $0.latchkeyCode == "leaseEnded" })
            #expect(stage.home.licenses == 1)
        }
    }

    @Test(arguments: PlayerUnderTest.all(that: .storedKeys))
    func `a stored key plays without a service`(_ player: PlayerUnderTest) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let store = MemoryKeyStore()
            let first = try await ConformingApp(player, on: stage, stage.loader(.home, store: store), folder: folder)
            if let store = first.app.store {
                try await store()
            } else {
                try await first.loader.offline?.register("movie", keys: stage.keys(of: .transportStream, for: .home))
            }
            let stored = try await first.play()
            first.leave()
            let licenses = stage.home.licenses
            stage.home.faults.set(.status(500), at: .license)
            let second = try await ConformingApp(player, on: stage, stage.loader(.home, store: store), folder: folder)
            let played = try await second.play()
            #expect(stored.isRight && played.isRight)
            #expect(stage.home.licenses == licenses)
            #expect(stage.log.violations.isEmpty && first.errors.isEmpty && second.errors.isEmpty)
        }
    }

    @Test(arguments: PlayerUnderTest.all)
    func `no error, event or note shows a secret`(_ player: PlayerUnderTest) async throws {
        try await conform(player, .twoKeys, lease: Self.lease) { stage, app in
            let events = Locked<[KeyEvent]>([])
            let reading = Task { [stream = app.loader.events()] in
                for await event in stream { events.withLock { $0.append(event) } }
            }
            _ = try await app.play()
            stage.home.faults.set(.status(403), at: .license)
            let refused = try await ConformingApp(player, on: stage, app.loader, .twoKeys)
            let thrown = try #require(await refused.failure())
            app.loader.cancel()
            reading.cancel()
            await reading.value
            var text = (app.errors + refused.errors + [thrown as NSError]).map(\.everything).joined()
            dump(thrown, to: &text)
            dump(events.withLock { $0 }, to: &text)
            dump(stage.log.contents, to: &text)
            #expect(stage.home.secrets.count >= 6)
            #expect(stage.secrets(in: text).isEmpty)
        }
    }
}
