import AVFoundation
import LatchkeyPlayback
import LatchkeySimulation
import StandInEngine
import Testing

/// Tests of the stand-in for `AVPlayer`, with a correct key delegate.
@Suite(.timeLimit(.minutes(5))) struct AVPlayerTests {
    @Test func `a picture is written on request`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let picture = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png")
            defer { try? FileManager.default.removeItem(at: picture) }
            let app = App(AppDelegate(fixture.server))
            app.item.standIn.writePicture(to: picture)
            let result = try await app.play()
            #expect(result.picture == picture)
            #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50, 0x4e, 0x47]))
        }
    }

    @Test func `an item is ready before it plays`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            let player = AVPlayer(playerItem: app.item)
            try await app.item.standIn.ready()
            #expect(player.timeControlStatus == .paused)
            #expect(app.item.status == .readyToPlay)
        }
    }

    @Test func `an app's NSError is the item's error and is in its log`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = App(
                ScriptedDelegate { _, request in
                    let reason = [NSLocalizedDescriptionKey: "No subscription."]
                    request.processContentKeyResponseError(NSError(domain: "app", code: 7, userInfo: reason))
                })
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect(error?.domain == "app" && error?.code == 7)
            let event = app.item.errorLog()?.events.first
            #expect(event?.errorStatusCode == 7 && event?.errorDomain == "app")
            #expect(event?.errorComment == "No subscription.")
            #expect(app.item.status == .failed)
        }
    }

    @Test func `a looper plays replicas with one asset until it is disabled`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let app = App(AppDelegate(fixture.server))
            let queue = AVQueuePlayer()
            let looper = AVPlayerLooper(player: queue, templateItem: app.item)
            let replicas = looper.loopingPlayerItems
            #expect(replicas.count == 3)
            await queue.play()
            for replica in replicas { #expect(try await replica.standIn.finished().isRight) }
            looper.disableLooping()
            #expect(looper.status == .cancelled && looper.loopCount >= 2)
            #expect(app.item.status == .unknown)
            #expect(fixture.log.contents.count(of: "didProvide") == 1)
            #expect(fixture.log.violations.isEmpty)
        }
    }

    @Test func `only the player reports an obscured picture`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            let player = AVPlayer(playerItem: app.item)
            try await app.item.standIn.ready()
            #expect(!player.isOutputObscuredDueToInsufficientExternalProtection)
            app.session.standIn.changeProtection(.insufficient)
            #expect(player.isOutputObscuredDueToInsufficientExternalProtection)
            #expect(app.item.errorLog() == nil)
            app.session.standIn.changeProtection(.sufficient)
            #expect(!player.isOutputObscuredDueToInsufficientExternalProtection)
        }
    }
}
