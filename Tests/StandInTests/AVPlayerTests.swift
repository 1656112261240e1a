import AVFoundation
import LatchkeyPlayback
import LatchkeySimulation
import StandInEngine
import Testing

/// Tests of the stand-in for `AVPlayer`, with a correct key delegate.
@Suite(.timeLimit(.minutes(5))) struct AVPlayerTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come from a session plays right`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server), playing: stream)
            let result = try await app.play()
            #expect(result.isRight)
            #expect(result.verdict.tracks.contains { $0.basis == .reference })
            #expect(app.item.status == .readyToPlay)
            #expect(fixture.log.violations.isEmpty)
            await fixture.log.untilCallbacks(["didProvide"], times: result.keyURIs.count)
            #expect(fixture.log.contents.count(of: "didProvide") == result.keyURIs.count)
            await fixture.log.untilCallbacks(["didSucceed"], times: result.keyURIs.count)
            #expect(fixture.log.contents.count(of: "didSucceed") == result.keyURIs.count)
            #expect(fixture.log.callbacks.allSatisfy { $0.place == "app.keys" && $0.implementation == .own })
        }
    }

    @Test func `a picture is written where a test asks for one`() async throws {
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

    @Test func `an app's NSError is the item's error and stands in its log`() async throws {
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

    @Test func `a key that is held is not asked for again`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            for _ in 0..<2 {
                app.session.processContentKeyRequest(withIdentifier: "skd://demo/video", initializationData: nil)
                await fixture.log.untilCallback("didSucceed")
            }
            let result = try await app.play()
            #expect(result.isRight)
            await fixture.log.untilCallback("didProvide", times: 1)
            #expect(fixture.log.contents.count(of: "didProvide") == 1)
        }
    }

    @Test func `a stream without a session or a loader does not play`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let item = AVPlayerItem(url: StandInFixture.playlist(of: .transportStream))
            await AVPlayer(playerItem: item).play()
            let error = await #expect(throws: AVError.self) { try await item.standIn.finished() }
            #expect(error?.code == .contentIsNotAuthorized)
        }
    }

    @Test func `a session that the app released gives no keys`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let item = App(AppDelegate(fixture.server)).item
            await AVPlayer(playerItem: item).play()
            let error = await #expect(throws: AVError.self) { try await item.standIn.finished() }
            #expect(error?.code == .contentIsNotAuthorized)
        }
    }
}
