import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySimulation
import StandInEngine
import StandInPlayers
import Testing

/// Each switch does to a correct data source what it says.
@Suite struct JWPlayerKitMisbehaviorTests {
    private let lastCall = "contentKeyWithSPCData"

    @Test func `every call comes twice, and the first answer counts`() async throws {
        let studio = try Studio(.callsBackTwice)
        try await studio.stage.run {
            let result = try await KitApp(studio).play()
            #expect(result.isRight)
        }
        await studio.log.untilCallback(lastCall, times: 2)
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `calls come on odd threads`() async throws {
        let studio = try Studio(.callsOnOddThreads)
        try await studio.stage.run {
            let result = try await KitApp(studio).play(.twoKeys)
            #expect(result.isRight)
        }
        #expect(studio.log.callbacks.allSatisfy { $0.place == "odd thread" })
    }

    @Test func `calls come on the main thread`() async throws {
        let studio = try Studio(.callsOnMainThread)
        try await studio.stage.run {
            let result = try await KitApp(studio).play()
            #expect(result.isRight)
        }
        #expect(studio.log.callbacks.allSatisfy { $0.place == DispatchQueue.main.label })
    }

    @Test func `a player that is torn down once its SPC is made still asks, and takes nothing`() async throws {
        let studio = try Studio(.cancelsMidway)
        await studio.stage.run {
            let app = KitApp(studio)
            await #expect(throws: JWError.self) { try await app.play() }
            await studio.log.untilCallback(lastCall)
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `each key is asked for twice`() async throws {
        let studio = try Studio(.repeatsIdentifiers)
        try await studio.stage.run {
            let result = try await KitApp(studio).play()
            #expect(result.isRight)
        }
        #expect(studio.log.contents.count(of: lastCall) == 2)
    }

    @Test func `keys in flight are answered in another order than they were named`() async throws {
        let studio = try Studio(.reordersKeys)
        try await studio.stage.run {
            let named = Locked<[String]>([])
            let asked = Locked<[String]>([])
            let app = KitApp(studio) { script in
                let (identifier, key) = (script.identifier, script.key)
                script.identifier = { url, answer in
                    named.withLock { $0.append(url.absoluteString) }
                    identifier(url, answer)
                }
                script.key = { spc, answer in
                    asked.withLock { $0.append((try? studio.server.context(of: spc).assetID.description) ?? "") }
                    key(spc, answer)
                }
            }
            let result = try await app.play(.twoKeys)
            #expect(result.isRight)
            #expect(asked.withLock { $0 } == named.withLock { $0 }.reversed())
        }
    }

    @Test func `playback that moves to AirPlay asks for all keys anew`() async throws {
        let studio = try Studio(.switchesToAirPlay)
        try await studio.stage.run {
            let result = try await KitApp(studio).play(.twoKeys)
            #expect(result.isRight)
            #expect(studio.log.contents.count(of: lastCall) == 2 * result.keyURIs.count)
        }
    }

    @Test func `the media services end when playback starts`() async throws {
        let studio = try Studio(.resetsMediaServices)
        try await studio.stage.run {
            let app = KitApp(studio)
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect(error?.underlyingError?.code == -11819)
            let result = try await app.play()
            #expect(result.isRight)
        }
    }

    @Test func `an SPC comes empty`() async throws {
        let studio = try Studio(.completesWithNothing)
        await studio.stage.run {
            let app = KitApp(studio)
            await #expect(throws: JWError.self) { try await app.play() }
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a player that forgot its data source gets no more keys`() async throws {
        let studio = try Studio(.dropsDelegate)
        try await studio.stage.run {
            let app = KitApp(studio)
            try await app.play()
            await #expect(throws: JWError.self) { try await app.view.standIn.playback?.moveToAirPlay() }
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `a license that is turned down is asked for again`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.obsolete, .timedOut]
        let studio = try Studio(behavior)
        try await studio.stage.run {
            let result = try await KitApp(studio).play()
            #expect(result.isRight)
        }
        #expect(studio.log.contents.count(of: lastCall) == 3)
    }

    @Test func `the stage holds on to playbacks`() async throws {
        let studio = try Studio(.releasesLate)
        try await studio.stage.run {
            weak var playback: AnyObject?
            do {
                let app = KitApp(studio)
                try await app.play()
                playback = app.view.standIn.playback
            }
            #expect(playback != nil)
        }
    }
}
