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
            let downloads = delegate.session("app")
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

    @Test func `renditions are chosen from the playlist's`() async throws {
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
            let downloads = delegate.session("app")
            let missing = AVURLAsset(url: DemoAsset.folder.appending(path: "missing.m3u8"))
            downloads.makeAssetDownloadTask(asset: missing, assetTitle: "Demo", assetArtworkData: nil)?.resume()
            await fixture.log.untilCallback("didCompleteDownload")
            downloads.finishTasksAndInvalidate()
            #expect(delegate.error.withLock { $0 } != nil)
            #expect(delegate.location.withLock { $0 } == nil)
        }
    }

    @Test func `a download requests the keys of its asset, and playback reuses them`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server), playing: .twoKeys)
            try await fixture.download(app.asset)
            #expect(fixture.log.contents.count(of: "didProvide") == 2)
            #expect(try await app.play().isRight)
            #expect(fixture.log.contents.count(of: "didProvide") == 2)
            #expect(fixture.log.violations.isEmpty)
        }
    }
}
