import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import Testing

/// What stands in for JWPlayerKit, with a correct data source.
@Suite struct JWPlayerKitTests {
    private let calls = ["contentIdentifierForURL", "appIdentifierForURL", "contentKeyWithSPCData"]

    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come from a data source plays right`(_ stream: DemoAsset) async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let result = try await KitApp(studio).play(stream)
            #expect(result.isRight && result.frameCount > 0)
            for call in calls { #expect(studio.log.contents.count(of: call) == result.keyURIs.count) }
        }
        #expect(studio.log.callbacks.allSatisfy { $0.implementation == .own })
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a stream comes over HTTP`() async throws {
        let studio = try Studio()
        try await KeyHouse.open(studio.server) { house in
            try await studio.stage.run {
                let address = try #require(URL(string: house.playlist(of: .twoKeys)))
                let result = try await KitApp(studio).play(address)
                #expect(result.isRight)
            }
        }
    }

    @Test func `each call can be made alone`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let app = KitApp(studio)
            let player = app.view.standIn
            let identifier = try await player.contentIdentifier(for: "skd://demo/video")
            #expect(identifier == Data("skd://demo/video".utf8))
            let certificate = try await player.appIdentifier(for: "skd://demo/video")
            #expect(certificate == studio.server.certificate)
            let reply = try await player.contentKey(for: Data([1]))
            #expect(reply?.license == nil)
            #expect(studio.log.names == calls)
            withExtendedLifetime(app) {}
        }
    }

    @Test func `a renewal date has the key asked for again`() async throws {
        let studio = try Studio(terms: LicenseTerms(.lease(.seconds(600))))
        try await studio.stage.run {
            let app = KitApp(studio) { script in
                script.key = { spc, answer in
                    let date = studio.time.date.addingTimeInterval(480)
                    answer(try? studio.server.license(for: spc), date, "application/octet-stream")
                }
            }
            try await app.play()
            await studio.time.untilSomeoneSleeps(for: .seconds(480))
            studio.time.advance(by: .seconds(480))
            await studio.log.untilCallback("contentKeyWithSPCData", times: 2)
            await studio.time.untilSomeoneSleeps(for: .seconds(480))
            studio.time.advance(by: .seconds(300))
            #expect(app.view.standIn.playback?.usableKeys == ["skd://demo/video"])
            let again = try await app.view.standIn.playback?.playAgain()
            #expect(again?.isRight == true)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a lease that nobody renews ends`() async throws {
        let studio = try Studio(terms: LicenseTerms(.lease(.seconds(600))))
        try await studio.stage.run {
            let app = KitApp(studio)
            try await app.play()
            studio.time.advance(by: .seconds(600))
            #expect(app.view.standIn.playback?.usableKeys == [])
            await #expect(throws: JWError.self) { try await app.view.standIn.playback?.playAgain() }
        }
    }

    @Test func `another stream ends the one before`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let held = Locked<[@Sendable () -> Void]>([])
            let app = KitApp(studio) { script in
                let key = script.key
                script.key = { spc, answer in
                    // Sound: a completion may be called from any thread.
                    nonisolated(unsafe) let answer = answer
                    let isFirst = held.withLock { held in
                        defer { held.append { key(spc, answer) } }
                        return held.isEmpty
                    }
                    if !isFirst { key(spc, answer) }
                }
            }
            app.view.player.configurePlayer(with: try KitApp.configuration(Studio.playlist(of: .transportStream)))
            let first = app.view.standIn
            await studio.log.untilCallback("contentKeyWithSPCData")
            let result = try await app.play(.rotation)
            #expect(result.isRight)
            let error = await #expect(throws: JWError.self) { try await first.finished() }
            #expect(error?.message.contains("gone on") == true)
            // The answer for the first stream comes late, and does no harm.
            held.withLock { $0.first }?()
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `no certificate ends in the misleading error of the real player`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = KitApp(studio) { $0.certificate = { _, answer in answer(nil) } }
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect(error?.code == 281_000)
            #expect(error?.underlyingError?.code == NSURLErrorUnsupportedURL)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `no license ends playback`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = KitApp(studio) { $0.key = { _, answer in answer(nil, nil, nil) } }
            await #expect(throws: JWError.self) { try await app.play() }
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `an error page in place of a license ends playback with FairPlay's number`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = KitApp(studio) { $0.key = { _, answer in answer(Data("<html>".utf8), nil, nil) } }
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect(error?.underlyingError?.domain == AppleError.statusDomain)
        }
    }
}
