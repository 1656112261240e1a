import AVFoundation
import LatchkeyCore
import StandInEngine

/// Keeps how a download ended.
final class DownloadDelegate: NSObject, AVAssetDownloadDelegate {
    let location = Locked<URL?>(nil)
    let error = Locked<(any Error)?>(nil)

    /// A session; without an identifier it has no background configuration.
    func session(_ identifier: String?) -> AVAssetDownloadURLSession {
        AVAssetDownloadURLSession(
            configuration: identifier.map { .background(withIdentifier: $0) } ?? .default,
            assetDownloadDelegate: self, delegateQueue: nil)
    }

    func urlSession(_ session: URLSession, assetDownloadTask: AVAssetDownloadTask, willDownloadTo location: URL) {}

    func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didFinishDownloadingTo location: URL
    ) { self.location.withLock { $0 = location } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.withLock { $0 = error }
    }
}

extension StandInFixture {
    /// Downloads an asset, and removes it.
    func download(_ asset: AVURLAsset) async throws {
        let delegate = DownloadDelegate()
        let session = delegate.session(UUID().uuidString)
        session.makeAssetDownloadTask(
            downloadConfiguration: AVAssetDownloadConfiguration(asset: asset, title: "Demo")
        ).resume()
        await log.untilCallback("didCompleteDownload")
        session.finishTasksAndInvalidate()
        if let media = delegate.location.withLock({ $0 }) { try FileManager.default.removeItem(at: media) }
        if let error = delegate.error.withLock({ $0 }) { throw error }
    }
}
