import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

@testable import LatchkeyExamples

/// The app of the series "Play a protected stream", whose parts are in `Examples/Snippets`.
@Suite(.timeLimit(.minutes(5))) struct TutorialTests {
    @MainActor private static func app(_ stage: PlayerStage, _ failures: FailureLog) -> ProtectedPlayback {
        ProtectedPlayback(stage.loader(), show: failures.add)
    }

    @MainActor private static func finish(_ app: ProtectedPlayback) async throws -> StandInPlayback.Result {
        try await #require(app.player.currentItem).standIn.finished()
    }

    @Test func `a second play releases the first asset, and stopping releases the second`() async throws {
        try await PlayerStage.with { try await Self.playTwice($0) }
    }

    @MainActor private static func playTwice(_ stage: PlayerStage) async throws {
        let failures = FailureLog()
        let app = app(stage, failures)
        app.play(stage.playlist())
        #expect(try await finish(app).isRight)
        let session = try #require(stage.stage.keySessions.first)

        app.play(stage.playlist(.twoKeys))
        #expect(session.contentKeyRecipients.count == 1)
        let second = try await finish(app)
        #expect(second.isRight)

        app.stop()
        #expect(session.contentKeyRecipients.isEmpty)
        #expect(failures.all.isEmpty && stage.log.violations.isEmpty)
    }

    @Test func `a title is downloaded, and plays with the same loader when the service is away`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { try await Self.playOffline($0) }
    }

    @MainActor private static func playOffline(_ stage: PlayerStage) async throws {
        let failures = FailureLog()
        let (finished, continuation) = AsyncStream<OfflineLocation>.makeStream()
        let app = ProtectedPlayback(stage.loader(store: MemoryKeyStore()), show: failures.add)
        let downloads = Downloads(app.loader) { event in
            if case .finished("movie", let location) = event { continuation.yield(location) }
        }
        try await downloads.download("movie", stage.playlist(), title: "A Movie")
        var iterator = finished.makeAsyncIterator()
        let media = try #require(await iterator.next()).url
        defer { try? FileManager.default.removeItem(at: media) }

        let service = stage.service(for: .vuDRM)
        let fetched = service.licenses
        service.faults.set(.status(500), at: .license)
        app.play(media)
        #expect(try await finish(app).isRight)
        #expect(service.licenses == fetched && failures.all.isEmpty && stage.log.violations.isEmpty)
    }

    @Test(arguments: [true, false]) func `an interstitial plays if its asset is protected, and fails if it is not`(
        isWatched: Bool
    ) async throws {
        try await PlayerStage.with { try await Self.playInterstitial($0, isWatched: isWatched) }
    }

    @MainActor private static func playInterstitial(_ stage: PlayerStage, isWatched: Bool) async throws {
        let failures = FailureLog()
        let app = app(stage, failures)
        let ads = isWatched ? InterstitialKeys(app.keys, of: app.player) : nil
        // The film waits for its key until the event is there.
        let service = stage.service(for: .vuDRM)
        service.hold()
        app.play(stage.playlist())
        let film = try #require(app.player.currentItem)
        let event = AVPlayerInterstitialEvent(primaryItem: film, time: .zero)
        event.templateItems = [AVPlayerItem(asset: AVURLAsset(url: stage.playlist(.twoKeys)))]
        AVPlayerInterstitialEventController(primaryPlayer: app.player).events = [event]
        let session = try #require(stage.stage.keySessions.first)
        while isWatched, session.contentKeyRecipients.count < 2, !Task.isCancelled { await Task.yield() }
        service.open()
        let played = event.standIn
        if isWatched {
            #expect(try await played.value.allSatisfy(\.isRight))
        } else {
            await #expect(throws: (any Error).self) { try await played.value }
        }
        #expect(try await finish(app).isRight)
        #expect(session.contentKeyRecipients.count == (isWatched ? 2 : 1))
        ads?.end()
        #expect(session.contentKeyRecipients.count == 1)
        #expect(stage.log.violations.isEmpty)
    }
}
