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
                configuration: .default, assetDownloadDelegate: delegate, delegateQueue: nil)
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

    @Test func `a stream that cannot be loaded ends the download with an error`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let delegate = DownloadDelegate()
            let downloads = AVAssetDownloadURLSession(
                configuration: .default, assetDownloadDelegate: delegate, delegateQueue: nil)
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
