import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySimulation
import StandInEngine
import StandInPlayers
import Testing

/// Each misbehavior happens to a correct data source.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerKitMisbehaviorTests {
    private let lastCall = "contentKeyWithSPCData"

    @Test func `every call comes twice, and the first answer counts`() async throws {
        let fixture = try StandInFixture(.callsBackTwice)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play()
            #expect(result.isRight)
        }
        await fixture.log.untilCallback(lastCall, times: 2)
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `calls come on odd threads`() async throws {
        let fixture = try StandInFixture(.callsOnOddThreads)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(fixture.log.callbacks.allSatisfy { $0.place == "odd thread" })
    }

    @Test func `calls come on the main thread`() async throws {
        let fixture = try StandInFixture(.callsOnMainThread)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play()
            #expect(result.isRight)
        }
        #expect(fixture.log.callbacks.allSatisfy { $0.place == DispatchQueue.main.label })
    }

    @Test func `a player that is torn down once its SPC is made still asks, and takes nothing`() async throws {
        let fixture = try StandInFixture(.cancelsMidway)
        await fixture.stage.run {
            let app = KitApp(fixture)
            await #expect(throws: JWError.self) { try await app.play() }
            await fixture.log.untilCallback(lastCall)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `each key is asked for twice`() async throws {
        let fixture = try StandInFixture(.repeatsIdentifiers)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play()
            #expect(result.isRight)
        }
        await fixture.log.untilCallback(lastCall, times: 2)
        #expect(fixture.log.contents.count(of: lastCall) == 2)
    }

    @Test func `keys in flight are answered in another order than they were named`() async throws {
        let fixture = try StandInFixture(.reordersKeys)
        try await fixture.stage.run {
            let named = Locked<[String]>([])
            let asked = Locked<[String]>([])
            let app = KitApp(fixture) { script in
                let (identifier, key) = (script.identifier, script.key)
                script.identifier = { url, answer in
                    named.withLock { $0.append(url.absoluteString) }
                    identifier(url, answer)
                }
                script.key = { spc, answer in
                    asked.withLock { $0.append((try? fixture.server.context(of: spc).assetID.description) ?? "") }
                    key(spc, answer)
                }
            }
            let result = try await app.play(.twoKeys)
            #expect(result.isRight)
            #expect(asked.withLock { $0 } == named.withLock { $0 }.reversed())
        }
    }

    @Test func `playback that moves to AirPlay requests all keys again`() async throws {
        let fixture = try StandInFixture(.switchesToAirPlay)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play(.twoKeys)
            #expect(result.isRight)
            await fixture.log.untilCallback(lastCall, times: 2 * result.keyURIs.count)
            #expect(fixture.log.contents.count(of: lastCall) == 2 * result.keyURIs.count)
        }
    }

    @Test func `the media services end when playback starts`() async throws {
        let fixture = try StandInFixture(.resetsMediaServices)
        try await fixture.stage.run {
            let app = KitApp(fixture)
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -11819)
            let result = try await app.play()
            #expect(result.isRight)
        }
    }

    @Test func `an SPC comes empty`() async throws {
        let fixture = try StandInFixture(.completesWithNothing)
        await fixture.stage.run {
            let app = KitApp(fixture)
            await #expect(throws: JWError.self) { try await app.play() }
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a player that forgot its data source gets no more keys`() async throws {
        let fixture = try StandInFixture(.dropsDelegate)
        try await fixture.stage.run {
            let app = KitApp(fixture)
            try await app.play()
            await #expect(throws: JWError.self) { try await app.view.standIn.playback?.moveToAirPlay() }
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a rejected license is requested again`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.obsolete, .timedOut]
        let fixture = try StandInFixture(behavior)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play()
            #expect(result.isRight)
        }
        await fixture.log.untilCallback(lastCall, times: 3)
        #expect(fixture.log.contents.count(of: lastCall) == 3)
    }

    @Test func `the stage retains playbacks`() async throws {
        let fixture = try StandInFixture(.releasesLate)
        try await fixture.stage.run {
            weak var playback: AnyObject?
            do {
                let app = KitApp(fixture)
                try await app.play()
                playback = app.view.standIn.playback
            }
            #expect(playback != nil)
        }
    }
}
