import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTHEOplayer
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

/// Renewals, and all ways in which a key of THEOplayer ends.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerLifeTests {
    private static let lease = LicenseTerms(.lease(.seconds(600)))
    private static let leasing = VendorProfile.verimatrix.setting("leaseDuration", to: "600")

    @Test func `a lease is renewed when the player asks again`() async throws {
        try await PlayerStage.with(terms: Self.lease) { stage in
            let loader = stage.loader(Self.leasing)
            let purposes = PurposeLog(loader)
            let app = THEOApp(loader, playing: stage.source(for: Self.leasing))
            let keys = try await app.play().keyURIs
            for key in keys { try await app.player.standIn.playback?.renew(key) }
            await purposes.until(.renewal, times: keys.count)
            #expect(app.failures.codes.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a lease that cannot be renewed ends with one error`() async throws {
        try await PlayerStage.with(terms: Self.lease) { stage in
            let app = THEOApp(stage.loader(Self.leasing), playing: stage.source(for: Self.leasing))
            let keys = try await app.play().keyURIs
            stage.service(for: Self.leasing).faults.set(.status(403), at: .license)
            stage.time.advance(by: .seconds(450))
            await app.failures.until("forbidden")
            await stage.passTime { app.failures.codes.contains("leaseEnded") }
            #expect(app.failures.codes.count { $0 == "leaseEnded" } == keys.count)
        }
    }

    @Test func `a persistent license is requested as one`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader()
            let purposes = PurposeLog(loader)
            let app = THEOApp(loader, playing: stage.source(licenseType: .persistent))
            let (player, key) = (app.player.standIn, stage.key())
            let exchange = StandInExchange(.persistable, on: stage.stage)
            let spc = try exchange.makeSPC(
                certificate: try await player.certificate(),
                contentIdentifier: try await player.contentIdentifier(for: key))
            let license = try await player.license(for: spc, key)
            #expect(throws: Never.self) { try exchange.storableKey(from: license) }
            await purposes.until(.persistable, times: 1)
        }
    }

    @Test func `a service that does not answer costs the deadline`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let app = THEOApp(stage.loader(deadline: .seconds(30)), playing: stage.source())
            async let result = app.failure()
            await service.untilLicenses(1)
            await stage.time.untilSomeoneSleeps(for: .seconds(30))
            stage.time.advance(by: .seconds(30))
            let error = await result
            service.open()
            #expect((error?.cause as? NSError)?.code == ContentKeyError.Kind.deadlineExceeded.number)
            #expect(stage.log.violations.isEmpty)
        }
    }

    enum End: CaseIterable { case otherSource, playerIsDestroyed, loaderIsCancelled }

    @Test(arguments: End.allCases)
    func `open requests are answered once when everything ends`(_ end: End) async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let loader = stage.loader()
            let app = THEOApp(loader, playing: stage.source(.twoKeys))
            async let result = app.failure()
            await service.untilLicenses(2)
            switch end {
            case .otherSource: app.player.source = nil
            case .playerIsDestroyed: app.player.destroy()
            case .loaderIsCancelled: loader.cancel()
            }
            #expect(await result != nil)
            service.open()
            await stage.log.untilCallback("onLicenseRequest", times: 2)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `two players of one integration do not see each other`() async throws {
        try await PlayerStage.with { stage in
            let apps = [DemoAsset.twoKeys, .rotation].map { THEOApp(stage.loader(), playing: stage.source($0)) }
            async let first = apps[0].play()
            async let second = apps[1].play()
            let played = try await first
            #expect(played.isRight)
            let played2 = try await second
            #expect(played2.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }
}
