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

    @Test(arguments: [
        (StandInBehavior([.callsBackTwice]), 2), (StandInBehavior([.repeatsIdentifiers]), 2),
        (StandInBehavior([.switchesToAirPlay]), 2), (StandInBehavior(retries: [.obsolete, .timedOut]), 3),
    ])
    func `so often is a key asked for, and the first answer counts`(
        _ behavior: StandInBehavior, _ times: Int
    ) async throws {
        let fixture = try StandInFixture(behavior)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play()
            #expect(result.isRight)
        }
        await fixture.log.untilCallback(lastCall, times: times)
        #expect(fixture.log.contents.count(of: lastCall) == times)
        #expect(fixture.log.violations.isEmpty)
    }

    @Test(arguments: [(Misbehavior.callsOnOddThreads, "odd thread"), (.callsOnMainThread, DispatchQueue.main.label)])
    func `calls come where no app expects them`(_ misbehavior: Misbehavior, _ place: String) async throws {
        let fixture = try StandInFixture(misbehavior)
        try await fixture.stage.run {
            let result = try await KitApp(fixture).play()
            #expect(result.isRight)
        }
        #expect(fixture.log.callbacks.allSatisfy { $0.place == place })
    }

    @Test func `keys in flight are answered out of order`() async throws {
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

    @Test func `the media services reset as playback starts`() async throws {
        let fixture = try StandInFixture(.resetsMediaServices)
        try await fixture.stage.run {
            let app = KitApp(fixture)
            let error = await #expect(throws: JWError.self) { try await app.play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -11819)
            let result = try await app.play()
            #expect(result.isRight)
        }
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

extension StandInBehavior {
    fileprivate init(retries: [RetryCause]) {
        self.init()
        self.retries = retries
    }
}
