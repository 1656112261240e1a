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
@Suite(.timeLimit(.minutes(5))) struct JWPlayer3KeysTests {
    /// An app on JW Player 3.
    private struct App {
        let failures = FailureLog()
        let keys: JWPlayerKeys
        let player: JWPlayerController

        init(
            _ loader: ContentKeyLoader, on stage: PlayerStage, playing url: URL,
            in version: JWPlayerController.Type = JWPlayerController.self
        ) throws {
            keys = JWPlayerKeys(loader, timekeeper: stage.time, onFailure: failures.add)
            let config = JWConfig(contentURL: url.absoluteString)
            // A class's type has no initializer that makes a subclass, unless it is required.
            player = try #require(
                version == EarlyJWPlayerController.self
                    ? EarlyJWPlayerController(config: config, delegate: nil, drmDataSource: keys)
                    : JWPlayerController(config: config, delegate: nil, drmDataSource: keys))
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
            #expect(app.failures.codes.isEmpty)
        }
    }

    /// Before version 3.13 the identifier is for systems before iOS 11.
    @Test(arguments: DemoAsset.allCases, [[], [Misbehavior.callsBackTwice], [.callsOnOddThreads]])
    func `a player that requests no identifier gets each key's own license`(
        _ asset: DemoAsset, _ misbehaviors: Set<Misbehavior>
    ) async throws {
        try await PlayerStage.with(StandInBehavior(misbehaviors)) { stage in
            let app = try App(
                stage.loader(), on: stage, playing: stage.playlist(asset), in: EarlyJWPlayerController.self)
            let result = try await app.play()
            #expect(result.isRight)
            if !misbehaviors.contains(.callsBackTwice) {
                #expect(stage.service(for: .vuDRM).licenses == result.keyURIs.count)
            }
            #expect(stage.log.violations.isEmpty && app.failures.codes.isEmpty)
            #expect(!stage.log.callbacks.contains { $0.name == "fetchContentIdentifier" })
        }
    }

    @Test func `a player that requests no identifier and gets no certificate gets a failure`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(403), at: .certificate)
            let app = try App(
                stage.loader(), on: stage, playing: stage.playlist(.twoKeys), in: EarlyJWPlayerController.self)
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.failures.codes.first == "forbidden")
        }
    }

    @Test func `a data source that is set after creating the player, as in JW's article, plays right`() async throws {
        try await PlayerStage.with { stage in
            let config = JWConfig(contentURL: stage.playlist(.twoKeys).absoluteString)
            let player = try #require(JWPlayerController(config: config))
            let keys = JWPlayerKeys(stage.loader(), timekeeper: stage.time, onFailure: unexpected)
            player.drmDataSource = keys
            player.play()
            let result = try await player.standIn.finished()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == 2)
            #expect(stage.log.violations.isEmpty)
            withExtendedLifetime(keys) {}
        }
    }

    @Test func `a license has the app's content type, or JW's own by default`() async throws {
        try await PlayerStage.with { stage in
            for (type, expected) in [(nil, "application/octet-stream"), ("com.example.ckc", "com.example.ckc")] {
                let keys =
                    type.map { JWPlayerKeys(stage.loader(), contentType: $0, onFailure: unexpected) }
                    ?? JWPlayerKeys(stage.loader(), onFailure: unexpected)
                let config = JWConfig(contentURL: stage.playlist().absoluteString)
                let player = try #require(JWPlayerController(config: config, delegate: nil, drmDataSource: keys))
                let key = stage.key()
                let identifier = try #require(try await player.standIn.contentIdentifier(for: key))
                let certificate = try #require(try await player.standIn.appIdentifier(for: key))
                let spc = try StandInExchange(.streaming, on: stage.stage)
                    .makeSPC(certificate: certificate, contentIdentifier: identifier)
                let reply = try await player.standIn.contentKey(for: spc)
                #expect(reply?.contentType == expected)
            }
        }
    }

    @Test func `another system's key is refused with an app failure`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let keys = JWPlayerKeys(stage.loader(), timekeeper: stage.time) { failures.add($0) }
            let url = try #require(URL(string: stage.key().raw))
            let answers = Locked<[Data]>([])
            keys.fetchContentIdentifier(forRequest: url, for: .standInOther) { data in
                answers.withLock { $0.append(data) }
            }
            keys.fetchAppIdentifier(forRequest: url, for: .standInOther) { data in answers.withLock { $0.append(data) }
            }
            keys.fetchContentKey(withRequest: Data([1]), for: .standInOther) { data, _, _ in
                answers.withLock { $0.append(data) }
            }
            #expect(answers.withLock { $0 } == [Data(), Data(), Data()])
            #expect(failures.codes == ["unfitForPlayer", "unfitForPlayer", "unfitForPlayer"])
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 0)
        }
    }

    @Test func `each callback is the adapter's own and answers`() async throws {
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
            await stage.log.untilCallbacks(names)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .repeatsIdentifiers, .switchesToAirPlay, .releasesLate,
    ])
    func `several keys play right despite the player`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = try App(stage.loader(), on: stage, playing: stage.playlist(.twoKeys))
            let played = try await app.play()
            #expect(played.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [ServiceEndpoint.certificate, .license])
    func `a failure is empty data to the player and an error to the app`(_ endpoint: ServiceEndpoint) async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(403), at: endpoint)
            let app = try App(stage.loader(), on: stage, playing: stage.playlist())
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.failures.codes.first == "forbidden")
            #expect(stage.secrets(in: app.failures.text).isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    /// VuDRM's lease is in the encrypted policy of its token, so that the app states it.
    @Test(arguments: [VendorProfile.verimatrix, .vuDRM, .vuDRMJW4])
    func `a lease is renewed at the date given to the player`(_ vendor: VendorProfile) async throws {
        let profile = vendor.setting("leaseDuration", to: "600")
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
