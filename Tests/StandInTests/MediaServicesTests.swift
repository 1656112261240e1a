import AVFoundation
import LatchkeyCore
import LatchkeyMedia
import StandInEngine
import Testing

/// A reset of the media services, as an app observes it in its player.
@Suite(.timeLimit(.minutes(5))) struct MediaServicesTests {
    @Test func `a player from before a media services reset no longer plays`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            let player = AVPlayer(playerItem: app.item)
            try await app.item.standIn.ready()
            let changes = Locked(0)
            let observation = player.observe(\.status) { _, _ in changes.withLock { $0 += 1 } }
            fixture.stage.resetMediaServices()
            #expect(player.status == .failed && app.item.status == .failed && changes.withLock { $0 } == 1)
            observation.invalidate()
            let next = AVPlayerItem(url: StandInFixture.playlist(of: .transportStream))
            await player.replaceCurrentItem(with: next)
            let error = await #expect(throws: AVError.self) { try await next.standIn.ready() }
            #expect(error?.code == .mediaServicesWereReset)
            fixture.stage.resetMediaServices()
            #expect(changes.withLock { $0 } == 1)
        }
    }

    @Test func `each stage sees only its own resets`() async throws {
        let counts = Locked([0, 0])
        let stages = [try StandInFixture().stage, try StandInFixture().stage]
        var observers: [any NSObjectProtocol] = []
        for (index, stage) in stages.enumerated() {
            observers += await stage.run {
                [
                    NotificationCenter.default.addObserver(
                        forName: AVAudioSession.mediaServicesWereResetNotification,
                        object: AVAudioSession.sharedInstance(), queue: nil
                    ) { _ in counts.withLock { $0[index] += 1 } }
                ]
            }
        }
        stages[1].resetMediaServices()
        #expect(counts.withLock { $0 } == [0, 1])
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    @Test func `a stream has a duration once loaded, and is at its set position`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            #expect(!app.item.duration.seconds.isFinite)
            let player = AVPlayer(playerItem: app.item)
            try await app.item.standIn.ready()
            #expect(app.item.duration.seconds == 6)
            player.seek(to: CMTime(value: 4, timescale: 1))
            #expect(player.currentTime().seconds == 4)
        }
    }
}
