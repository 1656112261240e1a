import Foundation
import JWPlayerKit
import LatchkeyCore
@_spi(Adapters) import LatchkeyJWPlayer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import Testing

/// Streams that play through JW Player 4's stand-in, over HTTP.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerKeysTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream plays right with one license per key`(_ asset: DemoAsset) async throws {
        try await PlayerStage.with { stage in
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(asset))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == result.keyURIs.count)
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 1)
            #expect(stage.log.violations.isEmpty)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(app.failures.codes.isEmpty)
        }
    }

    @Test func `each callback is the adapter's own and answers`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader()
            let app = try JWApp(loader, on: stage, playing: stage.playlist())
            let (player, key) = (app.standIn, stage.key())
            let identifier = try #require(try await player.contentIdentifier(for: key))
            #expect(identifier == (try loader.contentIdentifier(for: key).bytes))
            let certificate = try #require(try await player.appIdentifier(for: key))
            let exchange = StandInExchange(.streaming, on: stage.stage)
            let spc = try exchange.makeSPC(certificate: certificate, contentIdentifier: identifier)
            let reply = try #require(try await player.contentKey(for: spc))
            #expect(throws: Never.self) { try exchange.open(try #require(reply.license)) }
            #expect(reply.contentType == "application/octet-stream")
            let names = ["contentIdentifierForURL", "appIdentifierForURL", "contentKeyWithSPCData"]
            await stage.log.untilCallbacks(names)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .repeatsIdentifiers, .switchesToAirPlay, .releasesLate,
        .releasesEarly,
    ])
    func `several keys play right despite the player`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(.twoKeys))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a missing SPC delays other keys for a limited time`() async throws {
        try await PlayerStage.with(StandInBehavior([.reordersKeys])) { stage in
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(.twoKeys))
            async let result = app.play()
            await stage.time.untilSomeoneSleeps(for: .seconds(3))
            stage.time.advance(by: .seconds(3))
            // The player hands over the last SPC first, and each goes to its key.
            let played = try await result
            #expect(played.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a repeated SPC does not take another key's turn`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader()
            var events = loader.events().makeAsyncIterator()
            func requestedKey() async -> String? {
                while let event = await events.next() {
                    if case .requested = event.kind { return event.key?.raw }
                }
                return nil
            }
            // Whether the service refuses these SPCs before the loader is cancelled does not matter here.
            let keys = JWPlayerKeys(loader) { _ in }
            let (identified, continuation) = AsyncStream.makeStream(of: Int.self)
            var answers = identified.makeAsyncIterator()
            for index in [0, 1, 0, 1] {
                let url = try #require(URL(string: stage.key(index).raw))
                keys.contentIdentifierForURL(url) { _ in continuation.yield(index) }
            }
            #expect(await answers.next() == 0)
            for _ in 1...2 {
                keys.contentKeyWithSPCData(Data("the first key's".utf8)) { _, _, _ in }
                #expect(await requestedKey() == stage.key(0).raw)
            }
            // The second turn of the first key is over, and that of the second key has begun.
            #expect(Set([await answers.next(), await answers.next()]) == [0, 1])
            for _ in 1...2 {
                keys.contentKeyWithSPCData(Data("the second key's".utf8)) { _, _, _ in }
                #expect(await requestedKey() == stage.key(1).raw)
            }
            loader.cancel()
        }
    }

    @Test func `an SPC without a named key gets nothing`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let keys = JWPlayerKeys(stage.loader()) { failures.add($0) }
            let answer = await withCheckedContinuation { continuation in
                keys.contentKeyWithSPCData(Data([1])) { key, _, _ in continuation.resume(returning: key) }
            }
            #expect(answer == nil)
            #expect(failures.codes == ["keyUnnamed"])
        }
    }

    @Test func `a refusal gives status, stage and remedy without a secret`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist())
            await #expect(throws: JWError.self) { try await app.play() }
            let error = try #require(app.failures.all.first?.loaderError)
            #expect(error.service?.status == 403)
            #expect(error.stage == .license)
            #expect(!error.remedy.isEmpty)
            #expect(stage.secrets(in: app.failures.text).isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `without a certificate nothing else is requested`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(404), at: .certificate)
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(.twoKeys))
            await #expect(throws: JWError.self) { try await app.play() }
            #expect(app.failures.all.first?.loaderError?.stage == .certificate)
            #expect(stage.service(for: .vuDRM).licenses == 0)
        }
    }

    @Test func `an empty SPC is a player error`() async throws {
        try await PlayerStage.with(StandInBehavior([.completesWithNothing])) { stage in
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist())
            await #expect(throws: JWError.self) { try await app.play() }
            #expect(app.failures.codes.first == "spcFailed")
            #expect(stage.log.violations.isEmpty)
        }
    }
}
