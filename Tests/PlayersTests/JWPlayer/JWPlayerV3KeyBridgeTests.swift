import Foundation
import JWPlayer_iOS_SDK
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import Testing

/// Streams that play through JW Player 3's stand-in, over HTTP.
@Suite struct JWPlayerV3KeyBridgeTests {
    /// An app on JW Player 3.
    private struct App {
        let errors = KeyErrorLog()
        let keys: JWPlayerV3KeyBridge
        let player: JWPlayerController

        init(_ loader: ContentKeyLoader, on stage: PlayerStage, playing url: URL) throws {
            keys = JWPlayerV3KeyBridge(loader, timekeeper: stage.time) { [errors] in
                errors.add($0, $1)
            }
            player = try #require(
                JWPlayerController(config: JWConfig(contentURL: url.absoluteString), delegate: nil, drmDataSource: keys)
            )
        }

        func play() async throws -> StandInPlayback.Result {
            player.play()
            return try await player.standIn.finished()
        }
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream plays right with one license per key`(_ asset: DemoAsset) async throws {
        try await PlayerStage.with { stage in
            let app = try App(stage.loader(), on: stage, playing: stage.playlist(asset))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == result.keyURIs.count)
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 1)
            #expect(stage.log.violations.isEmpty)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(app.errors.codes.isEmpty)
        }
    }

    @Test func `each callback is the bridge's own, and answers`() async throws {
        try await PlayerStage.with { stage in
            let app = try App(stage.loader(), on: stage, playing: stage.playlist())
            let (player, key) = (app.player.standIn, stage.key())
            let identifier = try #require(try await player.contentIdentifier(for: key))
            let certificate = try #require(try await player.appIdentifier(for: key))
            let exchange = StandInExchange(.streaming, on: stage.stage)
            let spc = try exchange.makeSPC(certificate: certificate, contentIdentifier: identifier)
            let reply = try #require(try await player.contentKey(for: spc))
            #expect(throws: Never.self) { try exchange.open(try #require(reply.license)) }
            let names = ["fetchContentIdentifier", "fetchAppIdentifier", "fetchContentKey"]
            #expect(names.allSatisfy { stage.log.names.contains($0) })
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .repeatsIdentifiers, .switchesToAirPlay, .releasesLate,
    ])
    func `several keys play right whatever the player does`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = try App(stage.loader(), on: stage, playing: stage.playlist(.twoKeys))
            let played = try await app.play()
            #expect(played.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [ServiceEndpoint.certificate, .license])
    func `a failure is empty data for the player and an error for the app`(_ endpoint: ServiceEndpoint) async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(403), at: endpoint)
            let app = try App(stage.loader(), on: stage, playing: stage.playlist())
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.errors.codes.first == "forbidden")
            #expect(stage.secrets(in: app.errors.text).isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a lease is renewed at the date that the player was told`() async throws {
        let profile = VendorProfile.verimatrix.setting("leaseDuration", to: "600")
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let loader = stage.loader(profile)
            let purposes = PurposeLog(loader)
            let app = try App(loader, on: stage, playing: stage.playlist(for: profile))
            let keys = try await app.play().keyURIs
            stage.time.advance(by: .seconds(450))
            await purposes.until(.renewal, times: keys.count)
            await stage.service(for: profile).untilLicenses(2 * keys.count)
            #expect(stage.log.violations.isEmpty)
        }
    }
}
