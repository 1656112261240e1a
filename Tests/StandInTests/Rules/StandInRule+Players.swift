import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

extension StandInRule {
    /// `AVPlayer`, queues and interstitials.
    static let players = [
        StandInRule("an item leaves one player before another takes it", .itemOfTwoPlayers) { _, use in
            let item = AVPlayerItem(asset: AVURLAsset(url: StandInFixture.playlist(of: .transportStream)))
            let player = AVPlayer(playerItem: item)
            if use == .wrong { _ = AVPlayer(playerItem: item) }
            await player.replaceCurrentItem(with: nil)
            _ = AVPlayer(playerItem: item)
        },
        StandInRule("an item has one place in a queue", .itemEnqueuedTwice) { fixture, use in
            let app = App(AppDelegate(fixture.server))
            let next = AVURLAsset(url: StandInFixture.playlist(of: .twoKeys))
            app.session.addContentKeyRecipient(next)
            let second = AVPlayerItem(asset: next)
            let queue = AVQueuePlayer(items: [app.item, second])
            #expect(!queue.canInsert(second, after: nil))
            if use == .wrong { queue.insert(second, after: app.item) }
            #expect(queue.items().count == 2)
            await queue.play()
            for item in [app.item, second] { try await item.standIn.finished().expectRight() }
        },
        StandInRule("a recipient comes before its item is enqueued, for that may load it", .recipientAddedLate) {
            fixture, use in
            let app = App(AppDelegate(fixture.server))
            let late = AVURLAsset(url: StandInFixture.playlist(of: .twoKeys))
            if use == .right { app.session.addContentKeyRecipient(late) }
            let queue = AVQueuePlayer(items: [app.item, AVPlayerItem(asset: late)])
            if use == .wrong { app.session.addContentKeyRecipient(late) }
            await queue.play()
            try await app.item.standIn.finished().expectRight()
            let second = try #require(queue.currentItem)
            #expect(second !== app.item)
            if use == .right { return try await second.standIn.finished().expectRight() }
            let error = await #expect(throws: AVError.self) { try await second.standIn.finished() }
            #expect(error?.code == .contentIsNotAuthorized)
        },
        StandInRule("an interstitial's asset is made for the primary asset", numbers: [-11_835], in: "§3.7") {
            fixture, use in
            let app = App(AppDelegate(fixture.server))
            let session = use == .right ? app.asset.httpSessionIdentifier : UUID()
            let asset = AVURLAsset(
                url: StandInFixture.playlist(of: .twoKeys), options: [AVURLAssetPrimarySessionIdentifierKey: session])
            app.session.addContentKeyRecipient(asset)
            let player = AVPlayer(playerItem: app.item)
            let event = AVPlayerInterstitialEvent(primaryItem: app.item, time: .zero)
            event.templateItems = [AVPlayerItem(asset: asset)]
            AVPlayerInterstitialEventController(primaryPlayer: player).events = [event]
            await player.play()
            try await app.item.standIn.finished().expectRight()
            for result in try await event.standIn.value { result.expectRight() }
        },
        StandInRule("a protected stream has a session or a loader", numbers: [-11_835], in: "§3.8") { fixture, use in
            let app = use == .right ? App(AppDelegate(fixture.server)) : nil
            let item = app?.item ?? AVPlayerItem(url: StandInFixture.playlist(of: .transportStream))
            await AVPlayer(playerItem: item).play()
            _ = try await item.standIn.finished()
        },
        StandInRule("the app retains its session", numbers: [-11_835], in: "§3.3") { fixture, use in
            var app: App? = App(AppDelegate(fixture.server))
            let item = try #require(app?.item)
            if use == .wrong { app = nil }
            await AVPlayer(playerItem: item).play()
            _ = try await item.standIn.finished()
            withExtendedLifetime(app) {}
        },
    ]

    /// `AVAssetDownloadURLSession`.
    static let downloads = [
        StandInRule("a download session has a background configuration", .sessionNotBackground) { _, use in
            for name in ["a", "b"].prefix(use == .wrong ? 1 : 2) {
                _ = DownloadDelegate().session(use == .wrong ? nil : name)
            }
        },
        StandInRule("an identifier has one session, and its first delegate", .sessionIdentifierTaken) { fixture, use in
            let delegates = [DownloadDelegate(), DownloadDelegate()]
            let sessions = zip(delegates, use == .wrong ? ["a", "a"] : ["a", "b"]).map { $0.session($1) }
            let missing = AVURLAsset(url: DemoAsset.folder.appending(path: "missing.m3u8"))
            sessions[1].makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: missing, title: "Demo")
            ).resume()
            await fixture.log.untilCallback("didCompleteDownload")
            for session in sessions { session.finishTasksAndInvalidate() }
            let haveFailed = delegates.map { $0.error.withLock { $0 } != nil }
            #expect(haveFailed == (use == .wrong ? [true, false] : [false, true]))
        },
        StandInRule("a task is made before its session is invalidated", .invalidatedSessionUsed) { _, use in
            let session = DownloadDelegate().session("app")
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            if use == .wrong { session.invalidateAndCancel() }
            let older = session.makeAssetDownloadTask(asset: asset, assetTitle: "Demo", assetArtworkData: nil)
            #expect((older == nil) == (use == .wrong))
            _ = session.makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: asset, title: "Demo"))
        },
        StandInRule("a download's asset is a recipient", numbers: [-11_835], in: "§3.8") { fixture, use in
            let app = App(AppDelegate(fixture.server))
            let other = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            try await fixture.download(use == .wrong ? other : app.asset)
        },
        StandInRule("a recipient comes before its asset is downloaded", .recipientAddedLate) { fixture, use in
            let app = App(AppDelegate(fixture.server))
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            if use == .right { app.session.addContentKeyRecipient(asset) }
            try? await fixture.download(asset)
            if use == .wrong { app.session.addContentKeyRecipient(asset) }
        },
    ]

    /// `AVAssetResourceLoader`.
    static let resourceLoader = [
        StandInRule("a loader's delegate has a queue", .delegateWithoutQueue) { fixture, use in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            let app = LoaderApp(fixture) { try LoaderApp.answer($0, fixture) }
            asset.resourceLoader.setDelegate(app, queue: use == .wrong ? nil : DispatchQueue(label: "app.loader"))
        },
        StandInRule("a loading request is answered", .unanswered) { fixture, use in
            let app = LoaderApp(fixture) { if use == .right { try LoaderApp.answer($0, fixture) } }
            if use == .right { return try await app.play().expectRight() }
            await #expect(throws: AVError.self) { try await app.play() }
        },
        StandInRule("a loading request is finished once", .finishedTwice) { fixture, use in
            let app = LoaderApp(fixture) { request in
                try LoaderApp.answer(request, fixture)
                if use == .wrong { request.finishLoading() }
            }
            _ = try await app.play()
        },
        StandInRule("a cancelled loading request is not finished", .finishedTwice) { fixture, use in
            let kept = KeptRequest()
            let app = LoaderApp(fixture) { request in kept.request = request }
            let request = Task { try await app.asset.resourceLoader.standIn.request("skd://demo/video") }
            await fixture.log.untilCallback("shouldWaitForLoading")
            for request in app.asset.resourceLoader.standIn.openRequests {
                app.asset.resourceLoader.standIn.cancel(request)
            }
            await #expect(throws: AVError.self) { try await request.value }
            if use == .wrong { kept.request?.finishLoading() }
        },
        StandInRule("a key has a key's content type", .wrongContentType) { fixture, use in
            let app = LoaderApp(fixture) { request in
                request.contentInformationRequest?.contentType =
                    use == .wrong ? "application/octet-stream" : AVStreamingKeyDeliveryContentKeyType
                try LoaderApp.answer(request, fixture)
            }
            _ = try await app.play()
        },
        StandInRule("an error of a loading request is an NSError with a text", .errorWithoutText) { fixture, use in
            struct Refused: Error {}
            let refusal = NSError(domain: "app", code: 7, userInfo: [NSLocalizedDescriptionKey: "No subscription."])
            let app = LoaderApp(fixture) { $0.finishLoading(with: use == .wrong ? Refused() : refusal) }
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect((error?.domain == "app" && error?.code == 7) == (use == .right))
        },
        StandInRule("a loader's delegate takes requests for keys", numbers: [-11_835], in: "§3.6") { fixture, use in
            let app = LoaderApp(fixture) { request in
                if use == .wrong { throw CocoaError(.featureUnsupported) }
                try LoaderApp.answer(request, fixture)
            }
            _ = try await app.play()
        },
    ]
}

/// A request that a test retains.
// Sound: set on the loader's queue, and read after the callback has returned.
private final class KeptRequest: @unchecked Sendable {
    var request: AVAssetResourceLoadingRequest?
}
