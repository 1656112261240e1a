import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Tests of the stand-in for downloads.
@Suite(.timeLimit(.minutes(5))) struct AssetDownloadTests {
    @Test func `a stream is downloaded, and plays from its folder with a stored key`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let keys = AppDelegate(fixture.server, .offline)
            let online = App(keys)
            online.session.processContentKeyRequest(withIdentifier: "skd://demo/video", initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            let delegate = DownloadDelegate()
            let downloads = AVAssetDownloadURLSession(
                configuration: .background(withIdentifier: "app"), assetDownloadDelegate: delegate, delegateQueue: nil)
            let task = downloads.makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: online.asset, title: "Demo"))
            task.resume()
            await fixture.log.untilCallback("didCompleteDownload")
            downloads.finishTasksAndInvalidate()
            let location = try #require(delegate.location.withLock { $0 })
            defer { try? FileManager.default.removeItem(at: location) }
            let offline = App(keys, on: DispatchQueue(label: "app.keys"), playing: location)
            let result = try await offline.play()
            #expect(result.isRight)
            #expect(offline.asset.assetCache?.isPlayableOffline == true)
            #expect(
                fixture.log.names.filter { $0.contains("ownload") || $0.contains("Range") } == [
                    "willDownload", "didLoadTimeRange", "didFinishDownloading", "didCompleteDownload",
                ])
        }
    }

    // MARK: Rules

    /// The rules that a body violates on a stage of its own.
    private func broken(_ body: () async throws -> Void) async throws -> [RuleViolation.Rule] {
        let fixture = try StandInFixture()
        try await fixture.stage.run { try await body() }
        return fixture.log.brokenRules
    }

    private func session(_ identifier: String?, _ delegate: DownloadDelegate? = nil) -> AVAssetDownloadURLSession {
        AVAssetDownloadURLSession(
            configuration: identifier.map { .background(withIdentifier: $0) } ?? .default,
            assetDownloadDelegate: delegate, delegateQueue: nil)
    }

    @Test func `a configuration that is no background one is refused`() async throws {
        let one = try await broken { _ = session(nil) }
        let two = try await broken { for name in ["a", "b"] { _ = session(name) } }
        #expect(one == [.sessionNotBackground] && two.isEmpty)
    }

    @Test func `a second session with an identifier gets the first one's delegate`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let delegates = (DownloadDelegate(), DownloadDelegate())
            let first = session("app", delegates.0)
            let second = session("app", delegates.1)
            let missing = AVURLAsset(url: DemoAsset.folder.appending(path: "missing.m3u8"))
            second.makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: missing, title: "Demo")
            ).resume()
            await fixture.log.untilCallback("didCompleteDownload")
            #expect(delegates.0.error.withLock { $0 } != nil && delegates.1.error.withLock { $0 } == nil)
            for session in [first, second] { session.finishTasksAndInvalidate() }
        }
        #expect(fixture.log.brokenRules == [.sessionIdentifierTaken])
    }

    @Test func `a session that was invalidated makes no task`() async throws {
        let rules = try await broken {
            let session = session("app")
            session.invalidateAndCancel()
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            #expect(session.makeAssetDownloadTask(asset: asset, assetTitle: "Demo", assetArtworkData: nil) == nil)
            _ = session.makeAssetDownloadTask(
                downloadConfiguration: AVAssetDownloadConfiguration(asset: asset, title: "Demo"))
        }
        #expect(rules == [.invalidatedSessionUsed])
    }

    // MARK: What to download

    @Test func `renditions are chosen from those that the playlist names`() async throws {
        let fixture = try StandInFixture()
        let playlist = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).m3u8")
        let renditions = [("English", "en"), ("Français", "fr"), ("Deutsch", "de")].map { name, language in
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="\#(name)",LANGUAGE="\#(language)",URI="\#(language).m3u8""#
        }
        try (["#EXTM3U"] + renditions).joined(separator: "\n").write(to: playlist, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: playlist) }
        try await fixture.stage.run {
            let asset = AVURLAsset(url: playlist)
            let audio = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
            #expect(audio.options.map(\.extendedLanguageTag) == ["en", "fr", "de"])
            let subtitles = try await asset.loadMediaSelectionGroup(for: .legible)
            #expect(subtitles == nil)
            let preferred = try await asset.load(.preferredMediaSelection)
            let selection = try #require(preferred.mutableCopy() as? AVMutableMediaSelection)
            selection.select(audio.options[1], in: audio)
            #expect(selection.selectedMediaOption(in: audio)?.displayName == "Français")
            #expect(preferred.selectedMediaOption(in: audio) == nil)
        }
    }

    @Test func `a stream that cannot be loaded ends the download with an error`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let delegate = DownloadDelegate()
            let downloads = AVAssetDownloadURLSession(
                configuration: .background(withIdentifier: "app"), assetDownloadDelegate: delegate, delegateQueue: nil)
            let missing = AVURLAsset(url: DemoAsset.folder.appending(path: "missing.m3u8"))
            downloads.makeAssetDownloadTask(asset: missing, assetTitle: "Demo", assetArtworkData: nil)?.resume()
            await fixture.log.untilCallback("didCompleteDownload")
            downloads.finishTasksAndInvalidate()
            #expect(delegate.error.withLock { $0 } != nil)
            #expect(delegate.location.withLock { $0 } == nil)
        }
    }
}

private final class DownloadDelegate: NSObject, AVAssetDownloadDelegate {
    let location = Locked<URL?>(nil)
    let error = Locked<(any Error)?>(nil)

    func urlSession(_ session: URLSession, assetDownloadTask: AVAssetDownloadTask, willDownloadTo location: URL) {}

    func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didFinishDownloadingTo location: URL
    ) { self.location.withLock { $0 = location } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.withLock { $0 = error }
    }
}
