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
    @Test func `an unrenewed lease ends`() async throws {
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
}
