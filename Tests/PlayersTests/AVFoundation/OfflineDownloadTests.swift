import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// Media that is downloaded behind its keys, and the background session that does it.
@Suite(.timeLimit(.minutes(1))) struct OfflineDownloadTests {
    /// Downloads with their own loader, and their events.
    private struct Downloads {
        let stage: PlayerStage
        let loader: ContentKeyLoader
        let downloads: OfflineDownloads
        let events = EventLog()

        init(_ stage: PlayerStage, identifier: String = UUID().uuidString) {
            self.stage = stage
            loader = stage.loader(store: MemoryKeyStore())
            downloads = stage.downloads(loader, identifier: identifier, onEvent: events.add)
        }

        func begin(_ asset: AssetID = "movie") async throws {
            let keys = try await stage.keys(of: .transportStream)
            try await downloads.begin(asset, title: "A Movie", from: stage.playlist(), keys: keys)
        }
    }

    private func with(_ body: (Downloads) async throws -> Void) async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let downloads = Downloads(stage)
            try await body(downloads)
            #expect(stage.log.violations.isEmpty)
            for media in downloads.events.locations { try? FileManager.default.removeItem(at: media) }
        }
    }

    @Test func `a download has its keys first, and plays without a network`() async throws {
        try await with { app in
            try await app.begin()
            #expect(try await app.loader.offline?.asset("movie")?.isReady == true)
            #expect(await app.events.ends() == ["finished movie"])
            let media = try #require(app.events.locations.first)
            app.stage.service(for: .vuDRM).faults.set(.status(500), at: .license)
            let result = try await AVApp(app.loader, playing: media).play()
            #expect(result.isRight)
            let own = app.stage.log.callbacks.filter { $0.implementation == .own }.map(\.name)
            #expect(Set(own).isSuperset(of: ["didLoadTimeRange", "didFinishDownloading", "didCompleteDownload"]))
        }
    }

    @Test func `no media is downloaded without its keys`() async throws {
        try await with { app in
            app.stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
            let error = await #expect(throws: ContentKeyError.self) { try await app.begin() }
            #expect(error?.code == "forbidden")
            #expect(app.stage.stage.downloads.tasks.isEmpty)
        }
    }

    @Test func `a title plays while it downloads, from the same asset and without another license`() async throws {
        try await with { app in
            let keys = try await app.stage.keys(of: .transportStream)
            let failures = FailureLog()
            let player = AVPlayerKeys(app.loader, onFailure: failures.add)
            let asset = AVURLAsset(url: app.stage.playlist())
            app.stage.stage.downloads.loseNetwork()
            try await app.downloads.begin(
                "movie", title: "A Movie", from: asset, keys: keys, protectedBy: player)
            let result = try await AVApp.play(asset)
            #expect(result.isRight)
            app.stage.stage.downloads.regainNetwork()
            #expect(await app.events.ends() == ["finished movie"])
            #expect(try await AVApp.play(asset).isRight)
            #expect(app.stage.service(for: .vuDRM).licenses == keys.count)
            #expect(failures.all.isEmpty)
            player.release(asset)
        }
    }

    @Test func `an asset that is playing is downloaded without being protected twice`() async throws {
        try await with { app in
            let playing = AVApp(app.loader, playing: app.stage.playlist())
            #expect(try await playing.play().isRight)
            try await app.downloads.begin(
                "movie", title: "A Movie", from: playing.asset, keys: try await app.stage.keys(of: .transportStream),
                protectedBy: playing.keys)
            #expect(await app.events.ends() == ["finished movie"])
            #expect(playing.session?.contentKeyRecipients.count == 1)
        }
    }

    @Test func `a download's own key session ends with the download`() async throws {
        try await with { app in
            try await app.begin()
            #expect(await app.events.ends() == ["finished movie"])
            let sessions = app.stage.stage.keySessions
            while !sessions.allSatisfy({ $0.standIn.usableKeys.isEmpty && $0.contentKeyRecipients.isEmpty }),
                !Task.isCancelled
            {
                await Task.yield()
            }
        }
    }

    // MARK: Reports to the viewer

    @Test(arguments: [
        (NSURLErrorDomain, URLError.notConnectedToInternet.rawValue, ViewerMessage.offline),
        (NSURLErrorDomain, URLError.timedOut.rawValue, .unreachable),
        (NSURLErrorDomain, URLError.cancelled.rawValue, .downloadAgain),
        (AVFoundationErrorDomain, -11819, .downloadAgain),
    ])
    func `a failed download has a message for the viewer and keeps the system's error`(
        domain: String, code: Int, message: ViewerMessage
    ) throws {
        let secret = [NSLocalizedDescriptionKey: "https://cdn.example/?token=secret"]
        let error = ContentKeyError.downloadFailed("It ended", NSError(domain: domain, code: code, userInfo: secret))
        #expect(error.viewerMessage == message)
        #expect((error.underlying as? NSError)?.code == code)
        #expect(!"\(error)".contains("secret"))
    }

    // MARK: Actions of the app

    @Test func `a paused download waits until it is resumed`() async throws {
        try await with { app in
            app.stage.stage.downloads.loseNetwork()
            try await app.begin()
            app.downloads.pause("movie")
            let paused = try await app.downloads.running()
            #expect(paused.map(\.asset) == ["movie"] && paused.allSatisfy(\.isPaused))
            app.stage.stage.downloads.regainNetwork()
            app.downloads.pause("another")
            app.downloads.resume("another")
            #expect(try await app.downloads.running() == paused)
            #expect(app.events.names.isEmpty)
            app.downloads.resume("movie")
            #expect(await app.events.ends() == ["finished movie"])
            #expect(try await app.downloads.running().isEmpty)
        }
    }

    @Test func `a download that the app cancels has not failed and keeps keys`() async throws {
        try await with { app in
            app.stage.stage.downloads.loseNetwork()
            try await app.begin()
            app.downloads.cancel("movie")
            #expect(await app.events.ends() == ["cancelled movie"])
            #expect(try await app.loader.offline?.asset("movie")?.isReady == true)
        }
    }

    @Test func `a title that is downloading is not downloaded twice`() async throws {
        try await with { app in
            app.stage.stage.downloads.loseNetwork()
            try await app.begin()
            app.downloads.pause("movie")
            try await app.begin()
            #expect(app.stage.stage.downloads.tasks.count == 1)
            app.stage.stage.downloads.regainNetwork()
            #expect(await app.events.ends() == ["finished movie"])
        }
    }

    @Test func `the app chooses asset and renditions`() async throws {
        try await with { app in
            let cookies = try #require(
                HTTPCookie(properties: [.name: "CDN", .value: "1", .domain: "example.com", .path: "/"]))
            let asset = AVURLAsset(
                url: app.stage.playlist(.twoKeys),
                options: [
                    AVURLAssetHTTPCookiesKey: [cookies], AVURLAssetAllowsCellularAccessKey: false,
                ])
            let keys = try await app.stage.keys(of: .twoKeys)
            try await app.downloads.begin("movie", title: "A Movie", from: asset, keys: keys) { configuration in
                let qualifier = AVAssetVariantQualifier(
                    predicate: AVAssetVariantQualifier.predicate(
                        forPresentationHeight: 720, operatorType: .lessThanOrEqualTo))
                configuration.primaryContentConfiguration.variantQualifiers = [qualifier]
                configuration.auxiliaryContentConfigurations = []
            }
            #expect(await app.events.ends() == ["finished movie"])
            let task = try #require(app.stage.stage.downloads.tasks.first)
            #expect(task.urlAsset === asset)
            let chosen = try #require(task.standInConfiguration)
            let qualifiers = chosen.primaryContentConfiguration.variantQualifiers
            #expect(qualifiers.map { $0.standInAdmits(height: 720) } == [true])
            #expect(qualifiers.map { $0.standInAdmits(height: 1080) } == [false])
            #expect(chosen.auxiliaryContentConfigurations.isEmpty)
        }
    }

    // MARK: Actions of the system and the viewer

    @Test func `a viewer's Live Activity cancellation is not a failure`() async throws {
        try await with { app in
            app.stage.stage.downloads.loseNetwork()
            try await app.begin()
            app.stage.stage.downloads.cancelInLiveActivity()
            #expect(await app.events.ends() == ["cancelled movie"])
        }
    }

    @Test func `a download that ends when the viewer quits the app fails and can restart`() async throws {
        try await with { app in
            app.stage.stage.downloads.loseNetwork()
            try await app.begin()
            app.stage.stage.downloads.quitApp()
            #expect(await app.events.ends() == ["failed movie"])
            app.stage.stage.downloads.regainNetwork()
            try await app.begin()
            #expect(await app.events.ends(2).last == "finished movie")
        }
    }

    @Test func `an earlier launch's download is listed, paused, and finishes`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let identifier = UUID().uuidString
            let asset = AVURLAsset(url: stage.playlist())
            // The session is gone with the app of that launch.
            AVContentKeySession(keySystem: .fairPlayStreaming).addContentKeyRecipient(asset)
            stage.stage.downloads.loseNetwork()
            let task = AVAssetDownloadURLSession(
                configuration: .background(withIdentifier: identifier), assetDownloadDelegate: nil, delegateQueue: nil
            ).makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: asset, title: "A Movie"))
            task.taskDescription = "movie"
            task.resume()
            stage.stage.downloads.endApp()

            let app = Downloads(stage, identifier: identifier)
            let found = try await app.downloads.running()
            #expect(found == [try #require(found.first)] && found.first?.asset == "movie")
            #expect(found.first?.isPaused == false)
            app.downloads.pause("movie")
            #expect(try await app.downloads.running().map(\.isPaused) == [true])
            app.downloads.resume("movie")
            stage.stage.downloads.regainNetwork()
            #expect(await app.events.ends() == ["finished movie"])
            for media in app.events.locations { try? FileManager.default.removeItem(at: media) }
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `two objects with one identifier share the session, and the later gets events`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let first = Downloads(stage, identifier: "shared by \(stage.address)")
            let second = Downloads(stage, identifier: first.downloads.identifier)
            try await first.begin()
            #expect(await second.events.ends() == ["finished movie"])
            #expect(first.events.names.isEmpty)
            for media in second.events.locations { try? FileManager.default.removeItem(at: media) }
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a session that the system ended is replaced`() async throws {
        try await with { app in
            app.stage.stage.downloads.invalidate()
            await app.stage.log.untilCallback("didBecomeInvalid")
            try await app.begin()
            #expect(await app.events.ends() == ["finished movie"])
        }
    }

    @Test func `the session is configured before it is created, and always named`() async throws {
        try await PlayerStage.with { stage in
            let made = Locked<[String?]>([])
            let downloads = OfflineDownloads(stage.loader(), identifier: "") { configuration in
                made.withLock { $0.append(configuration.identifier) }
            } onEvent: { _ in
            }
            #expect(downloads.identifier == "latchkey.downloads")
            #expect(made.withLock { $0 } == ["latchkey.downloads"])
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a list that the system never gives ends at the deadline`() async throws {
        try await with { app in
            app.stage.stage.downloads.fallSilent()
            let list = Task { try await app.downloads.running() }
            await app.stage.time.untilSomeoneSleeps(for: .seconds(1_200))
            app.stage.time.advance(by: .seconds(1_200))
            let error = await #expect(throws: ContentKeyError.self) { try await list.value }
            #expect(error?.kind == .deadlineExceeded)
            let cancelled = Task { try await app.downloads.running() }
            cancelled.cancel()
            let end = await #expect(throws: ContentKeyError.self) { try await cancelled.value }
            #expect(end?.kind == .cancelled)
        }
    }

    // MARK: Events in the background

    /// Hands over the system's handler, as the app's delegate does.
    /// - Returns: Whether the session is the downloads' own.
    @discardableResult
    private func handle(
        _ app: Downloads, _ identifier: String? = nil, _ handler: @escaping @Sendable () -> Void
    ) async -> Bool {
        await MainActor.run {
            app.downloads.handleEvents(
                forBackgroundURLSession: identifier ?? app.downloads.identifier, completionHandler: handler)
        }
    }

    @Test func `the system hears that its events were handled, afterward on the main thread`() async throws {
        try await with { app in
            try await app.begin()
            let handled = Promise<(isMain: Bool, events: [String]), Never>()
            // On Linux the main queue does not stay on one thread.
            let main = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: main, value: true)
            let isOurs = await handle(app) {
                let isMain = DispatchQueue.getSpecific(key: main) == true
                handled.resolve(.success((isMain, app.events.names)))
            }
            #expect(await app.events.ends() == ["finished movie"])
            app.stage.stage.downloads.finishEvents()
            let outcome = try await handled.value
            #expect(isOurs && outcome.isMain && outcome.events == ["finished movie"])
        }
    }

    @Test func `events that ended before the app asked are not awaited`() async throws {
        try await with { app in
            app.stage.stage.downloads.finishEvents()
            await app.stage.log.untilCallback("didFinishEvents")
            let handled = Promise<Void, Never>()
            await handle(app) { handled.resolve(.success(())) }
            try await handled.value
        }
    }

    @Test func `another session's events are left to it`() async throws {
        try await with { app in
            let isOurs = await handle(app, "another") { Issue.record("The handler of another session was called.") }
            #expect(!isOurs)
            app.stage.stage.downloads.finishEvents()
            await app.stage.log.untilCallback("didFinishEvents")
        }
    }
}

/// The reports of downloads.
private final class EventLog: Sendable {
    private struct State {
        var names: [String] = []
        var locations: [URL] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// The ends of downloads.
    var names: [String] { state.withLock { $0.names } }
    var locations: [URL] { state.withLock { $0.locations } }

    func add(_ event: OfflineDownloadEvent) {
        switch event {
        case .progressed: break
        case .finished(let asset, let location):
            state.withLock { $0.locations.append(location.url) }
            note("finished \(asset)")
        case .cancelled(let asset, _): note("cancelled \(asset)")
        case .failed(let asset, _, _): note("failed \(asset)")
        }
    }

    private func note(_ name: String) {
        let met = state.withLock { state in
            state.names.append(name)
            let count = state.names.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }.map(\.continuation)
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until a number of downloads have ended.
    /// - Returns: How they ended.
    func ends(_ count: Int = 1) async -> [String] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.names.count < count { state.waiting.append((count, continuation)) }
                return state.names.count >= count
            }
            if isThere { continuation.resume() }
        }
        return names
    }
}
