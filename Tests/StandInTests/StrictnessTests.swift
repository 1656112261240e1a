import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// What a device refuses: the stand-in is never kinder. `PlayersPageTests` lists the rules.
@Suite(.timeLimit(.minutes(5))) struct StrictnessTests {
    // MARK: Stored keys

    @Test func `a stored key is refused for another key`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run { () async throws in
            let delegate = AppDelegate(fixture.server, .offline)
            let right = try await App(delegate, playing: .twoKeys).play()
            #expect(right.isRight && right.keyURIs.count == 2)
            let stored = delegate.files.withLock { $0 }
            let (one, other) = (right.keyURIs[0].raw, right.keyURIs[1].raw)
            delegate.files.withLock { $0[one] = stored[other] }
            let error = await #expect(throws: AVError.self) { try await App(delegate, playing: .twoKeys).play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -42803)
        }
    }

    // MARK: Interstitials

    @Test(arguments: [true, false])
    func `an interstitial plays the app's own asset only if that was made for the primary asset`(
        isMadeForIt: Bool
    ) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let app = App(AppDelegate(fixture.server))
            let session = isMadeForIt ? app.asset.httpSessionIdentifier : UUID()
            let asset = AVURLAsset(
                url: StandInFixture.playlist(of: .twoKeys), options: [AVURLAssetPrimarySessionIdentifierKey: session])
            app.session.addContentKeyRecipient(asset)
            let player = AVPlayer(playerItem: app.item)
            let event = AVPlayerInterstitialEvent(primaryItem: app.item, time: .zero)
            event.templateItems = [AVPlayerItem(asset: asset)]
            AVPlayerInterstitialEventController(primaryPlayer: player).events = [event]
            await player.play()
            if isMadeForIt {
                #expect(try await event.standIn.value.allSatisfy(\.isRight))
            } else {
                await #expect(throws: AVError.self) { try await event.standIn.value }
            }
            #expect(try await app.item.standIn.finished().isRight)
        }
    }

    // MARK: Queues

    /// A queue of two streams, whose second one is protected after it was enqueued.
    @Test func `an enqueued item loads before its turn`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let app = App(AppDelegate(fixture.server))
            let late = AVURLAsset(url: StandInFixture.playlist(of: .twoKeys))
            let queue = AVQueuePlayer(items: [app.item, AVPlayerItem(asset: late)])
            app.session.addContentKeyRecipient(late)
            await queue.play()
            #expect(try await app.item.standIn.finished().isRight)
            let second = try #require(queue.currentItem)
            #expect(second !== app.item)
            let error = await #expect(throws: AVError.self) { try await second.standIn.finished() }
            #expect(error?.code == .contentIsNotAuthorized)
            #expect(fixture.log.brokenRules == [.recipientAddedLate])
        }
    }

    @Test func `a queue plays its items one after the other, and each has one place`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let app = App(AppDelegate(fixture.server))
            let next = AVURLAsset(url: StandInFixture.playlist(of: .twoKeys))
            app.session.addContentKeyRecipient(next)
            let second = AVPlayerItem(asset: next)
            let queue = AVQueuePlayer(items: [app.item, second])
            #expect(!queue.canInsert(second, after: nil))
            queue.insert(second, after: app.item)
            #expect(queue.items().count == 2)
            await queue.play()
            #expect(try await app.item.standIn.finished().isRight)
            #expect(try await second.standIn.finished().isRight)
            #expect(fixture.log.brokenRules == [.itemEnqueuedTwice])
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

    // MARK: Downloads

    private func download(_ asset: AVURLAsset, _ fixture: StandInFixture) async throws -> (any Error)? {
        let delegate = EndOfDownload()
        let session = AVAssetDownloadURLSession(
            configuration: .background(withIdentifier: UUID().uuidString), assetDownloadDelegate: delegate,
            delegateQueue: nil)
        session.makeAssetDownloadTask(
            downloadConfiguration: AVAssetDownloadConfiguration(asset: asset, title: "Demo")
        ).resume()
        await fixture.log.untilCallback("didCompleteDownload")
        session.finishTasksAndInvalidate()
        if let media = delegate.location.withLock({ $0 }) { try FileManager.default.removeItem(at: media) }
        return delegate.error.withLock { $0 }
    }

    @Test func `a download requests the keys of its asset, and playback reuses them`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let app = App(AppDelegate(fixture.server), playing: .twoKeys)
            #expect(try await download(app.asset, fixture) == nil)
            #expect(fixture.log.contents.count(of: "didProvide") == 2)
            #expect(try await app.play().isRight)
            #expect(fixture.log.contents.count(of: "didProvide") == 2)
            #expect(fixture.log.violations.isEmpty)
        }
    }

    @Test func `a download of an unprotected asset fails`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            #expect((try await download(asset, fixture) as? AVError)?.code == .contentIsNotAuthorized)
        }
    }

    @Test func `an asset cannot be protected once it downloads`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            _ = try await download(asset, fixture)
            AVContentKeySession(keySystem: .fairPlayStreaming).addContentKeyRecipient(asset)
            #expect(fixture.log.brokenRules == [.recipientAddedLate])
        }
    }

    // MARK: Displays

    @Test func `only the player reports an obscured picture`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run { () async throws in
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

private final class EndOfDownload: NSObject, AVAssetDownloadDelegate {
    let location = Locked<URL?>(nil)
    let error = Locked<(any Error)?>(nil)

    func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didFinishDownloadingTo location: URL
    ) { self.location.withLock { $0 = location } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.withLock { $0 = error }
    }
}
