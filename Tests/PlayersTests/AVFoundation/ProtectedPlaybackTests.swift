import AVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Observation
import StandInEngine
import Testing

@testable import LatchkeyAVFoundation

/// The states that a view observes while titles play, fail, and are interrupted.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ProtectedPlaybackTests {
    private static let lease = Duration.seconds(600)

    private func with(
        _ behavior: StandInBehavior = StandInBehavior(), lease: Duration? = nil,
        options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
        _ body: @MainActor (PlayerStage, ProtectedPlayback) async throws -> Void
    ) async throws {
        try await PlayerStage.with(behavior, terms: lease.map { LicenseTerms(.lease($0)) } ?? LicenseTerms()) { stage in
            let playback = ProtectedPlayback(stage.loader(lease: lease), options: options)
            try await body(stage, playback)
            playback.stop()
            #expect(stage.log.violations.isEmpty)
        }
    }

    private func finish(_ playback: ProtectedPlayback) async throws -> StandInPlayback.Result {
        try await #require(playback.player.currentItem).standIn.finished()
    }

    private func until(_ condition: @MainActor () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }

    @Test func `a title plays for two leases, and its keys end when it stops`() async throws {
        try await with(lease: Self.lease) { stage, playback in
            playback.play(stage.playlist(), as: "movie-1")
            #expect(try await finish(playback).isRight)
            let session = try #require(stage.stage.keySessions.first)
            for renewal in 1...3 {
                stage.time.advance(by: .seconds(450))
                await stage.log.untilCallback("didSucceed", times: 1 + renewal)
            }
            #expect(session.standIn.usableKeys.count == 1)
            #expect(playback.problem == nil && playback.notice == nil && playback.recovery == nil)
            playback.stop()
            #expect(session.contentKeyRecipients.isEmpty && playback.player.currentItem == nil)
        }
    }

    @Test func `a refusal is a problem with words until the title plays on retry`() async throws {
        try await with { stage, playback in
            let service = stage.service(for: .vuDRM)
            service.faults.set(.status(403), at: .license)
            playback.play(stage.playlist(), as: "movie-1")
            await until { playback.problem?.loaderError != nil }
            #expect(playback.problem?.viewerMessage == .notIncluded)
            #expect(playback.problem?.asset == "movie-1")
            service.faults.clear()
            playback.tryAgain()
            #expect(playback.problem == nil)
            let result = try await finish(playback)
            #expect(result.isRight)
            #expect(playback.problem == nil)
        }
    }

    @Test func `a failure apart from keys is also a problem`() async throws {
        try await with { stage, playback in
            playback.play(try #require(URL(string: "\(stage.address)/media/nothing.m3u8")), as: "movie-1")
            await until { playback.problem != nil }
            #expect(playback.problem?.loaderError == nil && playback.problem?.asset == "movie-1")
            #expect(playback.problem?.viewerMessage == .unavailable)
        }
    }

    @Test func `a problem ends when the key finally arrives`() async throws {
        let options = AVPlayerKeys.Options(retries: 1)
        try await with(lease: Self.lease, options: options) { stage, playback in
            playback.play(stage.playlist())
            let result = try await finish(playback)
            #expect(result.isRight)
            stage.stage.behavior.retries = [.obsolete, .obsolete]
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didFail")
            await stage.log.untilCallback("didSucceed", times: 2)
            await until { playback.problem == nil }
            #expect(playback.recovery == nil)
        }
    }

    @Test func `after a media services reset another player waits at the same place`() async throws {
        try await with(lease: Self.lease) { stage, playback in
            playback.play(stage.playlist(), as: "movie-1")
            #expect(try await finish(playback).isRight)
            let player = playback.player
            player.currentItem?.standIn.reach(CMTime(value: 2, timescale: 1))
            stage.stage.resetMediaServices()
            await until {
                playback.recovery == .mediaServicesReset && playback.player.currentTime().seconds == 2
            }
            #expect(playback.player !== player && player.status == .failed)
            #expect(playback.player.rate == 0 && playback.problem == nil)
            playback.player.play()
            let result = try await finish(playback)
            #expect(result.isRight)
            for _ in 0..<2 {
                let before = stage.log.contents.count(of: "didSucceed")
                stage.time.advance(by: .seconds(450))
                await stage.log.untilCallback("didSucceed", times: before + 1)
            }
            #expect(playback.problem == nil)
        }
    }

    @Test func `a title that begins after a reset plays in another player`() async throws {
        try await with(lease: Self.lease) { stage, playback in
            let player = playback.player
            stage.stage.resetMediaServices()
            await until { playback.player !== player }
            #expect(playback.recovery == nil)
            playback.play(stage.playlist(), as: "movie-1")
            let result = try await finish(playback)
            #expect(result.isRight && playback.recovery == nil)
        }
    }

    @Test func `it ends with its keys`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            var playback: ProtectedPlayback? = ProtectedPlayback(stage.loader(lease: Self.lease))
            playback?.play(stage.playlist(), as: "movie-1")
            weak let keys = playback?.keys
            playback = nil
            await until { keys == nil }
            #expect(keys == nil)
        }
    }

    @Test func `a stuck session is replaced while the title plays`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.timedOut]
        try await with(behavior, options: AVPlayerKeys.Options(retries: 0, stuckAfter: 1)) { stage, playback in
            playback.play(stage.playlist(), as: "movie-1")
            let player = playback.player
            await until { playback.recovery == .stuck && playback.player.currentItem?.status == .readyToPlay }
            #expect(playback.player === player && playback.problem == nil)
            let result = try await finish(playback)
            #expect(result.isRight)
        }
    }

    @Test func `a session that stays stuck is a problem after three attempts`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = Array(repeating: .timedOut, count: 20)
        try await with(behavior, options: AVPlayerKeys.Options(retries: 0, stuckAfter: 1)) { stage, playback in
            playback.play(stage.playlist(), as: "movie-1")
            await until { stage.service(for: .vuDRM).licenses >= 4 && playback.problem != nil }
            #expect(playback.problem?.explanation?.code == -42669)
        }
    }

    @Test func `a display that does not protect the picture is noticed, as is a better one`() async throws {
        try await with { stage, playback in
            playback.play(stage.playlist())
            #expect(try await finish(playback).isRight)
            let session = try #require(stage.stage.keySessions.first).standIn
            session.changeProtection(.insufficient)
            await until { playback.isOutputObscured }
            session.changeProtection(.sufficient)
            await until { !playback.isOutputObscured }
            #expect(playback.problem == nil)
        }
    }

    @Test func `a view that reads the problem observes its change`() async throws {
        try await with { stage, playback in
            stage.service(for: .vuDRM).faults.set(.status(401), at: .license)
            await withCheckedContinuation { changed in
                withObservationTracking {
                    _ = playback.problem
                } onChange: {
                    changed.resume()
                }
                playback.play(stage.playlist())
            }
        }
    }
}
