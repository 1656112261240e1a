import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import Testing

/// Tests of the stand-in for JWPlayerKit, with a correct data source.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerKitTests {
    private let calls = ["contentIdentifierForURL", "appIdentifierForURL", "contentKeyWithSPCData"]

    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come from a data source plays right`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play(stream)
            #expect(result.isRight && result.frameCount > 0)
            await fixture.log.untilCallbacks(calls, times: result.keyURIs.count)
            for call in calls { #expect(fixture.log.contents.count(of: call) == result.keyURIs.count) }
        }
        #expect(fixture.log.callbacks.allSatisfy { $0.implementation == .own })
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a stream comes over HTTP`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            try await fixture.stage.run {
                let address = try #require(URL(string: demo.playlist(of: .twoKeys)))
                let result = try await KitApp(fixture).play(address)
                #expect(result.isRight)
            }
        }
    }

    @Test func `each call can be made alone`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = KitApp(fixture)
            let player = app.view.standIn
            let identifier = try await player.contentIdentifier(for: "skd://demo/video")
            #expect(identifier == Data("skd://demo/video".utf8))
            let certificate = try await player.appIdentifier(for: "skd://demo/video")
            #expect(certificate == fixture.server.certificate)
            let reply = try await player.contentKey(for: Data([1]))
            #expect(reply?.license == nil)
            // The log notes a call when it returns, which may be after the answer.
            await fixture.log.untilCallback("contentKeyWithSPCData")
            await fixture.log.untilCallbacks(calls)
            #expect(fixture.log.names == calls)
            withExtendedLifetime(app) {}
        }
    }

    @Test func `a renewal date has the key asked for again`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let app = KitApp(fixture) { script in
                script.key = { spc, answer in
                    let date = fixture.time.date.addingTimeInterval(480)
                    answer(try? fixture.server.license(for: spc), date, "application/octet-stream")
                }
            }
            try await app.play()
            await fixture.time.untilSomeoneSleeps(for: .seconds(480))
            fixture.time.advance(by: .seconds(480))
            await fixture.log.untilCallback("contentKeyWithSPCData", times: 2)
            await fixture.time.untilSomeoneSleeps(for: .seconds(480))
            fixture.time.advance(by: .seconds(300))
            #expect(app.view.standIn.playback?.usableKeys == ["skd://demo/video"])
            let again = try await app.view.standIn.playback?.playAgain()
            #expect(again?.isRight == true)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a lease that nobody renews ends`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let app = KitApp(fixture)
            try await app.play()
            fixture.time.advance(by: .seconds(600))
            #expect(app.view.standIn.playback?.usableKeys == [])
            await #expect(throws: JWError.self) { try await app.view.standIn.playback?.playAgain() }
        }
    }

    @Test func `another stream ends the one before`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let held = Locked<[@Sendable () -> Void]>([])
            let app = KitApp(fixture) { script in
                let key = script.key
                script.key = { spc, answer in
                    // Sound: a completion handler may be called on any thread.
                    nonisolated(unsafe) let answer = answer
                    let isFirst = held.withLock { held in
                        defer { held.append { key(spc, answer) } }
                        return held.isEmpty
                    }
                    if !isFirst { key(spc, answer) }
                }
            }
            app.view.player.configurePlayer(
                with: try KitApp.configuration(StandInFixture.playlist(of: .transportStream)))
            let first = app.view.standIn
            await fixture.log.untilCallback("contentKeyWithSPCData")
            let result = try await app.play(.rotation)
            #expect(result.isRight)
            let error = await #expect(throws: JWError.self) { try await first.finished() }
            #expect(error?.localizedDescription.contains("gone on") == true)
            // The answer for the first stream arrives late and does no harm.
            held.withLock { $0.first }?()
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `no certificate ends in the misleading error of the real player`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = KitApp(fixture) { $0.certificate = { _, answer in answer(nil) } }
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect(error?.code == 281_000)
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSURLErrorUnsupportedURL)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a missing license ends playback`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = KitApp(fixture) { $0.key = { _, answer in answer(nil, nil, nil) } }
            await #expect(throws: JWError.self) { try await app.play() }
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `an error page in place of a license ends playback with FairPlay's number`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = KitApp(fixture) { $0.key = { _, answer in answer(Data("<html>".utf8), nil, nil) } }
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == AppleError.statusDomain)
        }
    }
}
