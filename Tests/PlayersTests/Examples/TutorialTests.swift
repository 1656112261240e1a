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
    @MainActor private static func finish(_ app: ProtectedPlayback) async throws -> StandInPlayback.Result {
        try await #require(app.player.currentItem).standIn.finished()
    }

    /// How many assets have keys, each in its own session.
    private static func recipients(_ stage: PlayerStage) -> Int {
        stage.stage.keySessions.reduce(0) { $0 + $1.contentKeyRecipients.count }
    }

    @Test func `a second play releases the first asset, and a stop the second`() async throws {
        try await PlayerStage.with { try await Self.playTwice($0) }
    }

    @MainActor private static func playTwice(_ stage: PlayerStage) async throws {
        let app = ProtectedPlayback(stage.loader())
        app.play(stage.playlist())
        #expect(try await finish(app).isRight)

        app.play(stage.playlist(.twoKeys))
        #expect(recipients(stage) == 1)
        let second = try await finish(app)
        #expect(second.isRight)

        app.stop()
        #expect(recipients(stage) == 0)
        #expect(app.problem == nil && stage.log.violations.isEmpty)
    }

    @Test func `a title is downloaded, and plays with the same loader without the service`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { try await Self.playOffline($0) }
    }

    @MainActor private static func playOffline(_ stage: PlayerStage) async throws {
        let (finished, continuation) = AsyncStream<OfflineLocation>.makeStream()
        let loader = stage.loader(store: MemoryKeyStore())
        let app = ProtectedPlayback(loader)
        let downloads = Downloads(loader) { event in
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
        #expect(service.licenses == fetched && app.problem == nil && stage.log.violations.isEmpty)
    }

    /// The source of an interstitial's asset.
    enum Interstitial: CaseIterable {
        /// From `InterstitialKeys.item(_:during:)`.
        case made
        /// From an asset list that the system reads later.
        case listed
        /// From the app, which did not make it for the film.
        case foreign
        /// From the app, which does not protect it.
        case unprotected

        var plays: Bool { self == .made || self == .listed }
    }

    @Test(arguments: Interstitial.allCases)
    func `an interstitial plays only if its asset is protected and made for the film`(_ origin: Interstitial)
        async throws
    {
        try await PlayerStage.with { try await Self.playInterstitial($0, origin) }
    }

    @MainActor private static func playInterstitial(_ stage: PlayerStage, _ origin: Interstitial) async throws {
        let app = ProtectedPlayback(stage.loader())
        let ads = origin == .unprotected ? nil : InterstitialKeys(app.keys, of: app.player)
        // The film waits for its key until the event begins.
        let service = stage.service(for: .vuDRM)
        service.hold()
        app.play(stage.playlist())
        let film = try #require(app.player.currentItem)
        let primary = try #require(film.asset as? AVURLAsset)
        let stream = stage.playlist(.twoKeys)
        let event = AVPlayerInterstitialEvent(primaryItem: film, time: .zero)
        let controller = AVPlayerInterstitialEventController(primaryPlayer: app.player)
        switch origin {
        case .made: event.templateItems = [try #require(ads).item(stream, during: primary)]
        case .foreign, .unprotected: event.templateItems = [AVPlayerItem(asset: AVURLAsset(url: stream))]
        case .listed: break
        }
        controller.events = [event]
        if origin == .listed {
            let options = [AVURLAssetPrimarySessionIdentifierKey: primary.httpSessionIdentifier]
            let asset = AVURLAsset(url: stream, options: options)
            controller.standInReadAssetList(of: event, [AVPlayerItem(asset: asset)])
        }
        while ads != nil, recipients(stage) < 2, !Task.isCancelled { await Task.yield() }
        service.open()
        if origin.plays {
            #expect(try await event.standIn.value.allSatisfy(\.isRight))
        } else {
            await #expect(throws: (any Error).self) { try await event.standIn.value }
        }
        #expect(try await finish(app).isRight)
        #expect(recipients(stage) == (ads == nil ? 1 : 2))
        ads?.end()
        #expect(recipients(stage) == 1)
        #expect(stage.log.violations.isEmpty)
    }
}
