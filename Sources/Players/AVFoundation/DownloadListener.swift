#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import LatchkeyCore

    /// The delegate of the download session, which keeps it.
    final class DownloadListener: NSObject, Sendable {
        private struct Download {
            var location: OfflineLocation?
            var seconds = 0.0
        }

        private let hear: @Sendable (OfflineDownloadEvent) -> Void
        private let downloads = Locked<[ObjectIdentifier: Download]>([:])

        init(_ hear: @escaping @Sendable (OfflineDownloadEvent) -> Void) {
            self.hear = hear
            super.init()
        }

        private func locate(_ task: URLSessionTask, _ url: URL) {
            downloads.withLock { $0[ObjectIdentifier(task), default: Download()].location = OfflineLocation(url) }
        }
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    extension DownloadListener: AVAssetDownloadDelegate {
        func urlSession(
            _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, willDownloadTo location: URL
        ) {
            locate(assetDownloadTask, location)
        }

        func urlSession(
            _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didFinishDownloadingTo location: URL
        ) {
            locate(assetDownloadTask, location)
        }

        func urlSession(
            _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didLoad timeRange: CMTimeRange,
            totalTimeRangesLoaded loadedTimeRanges: [NSValue], timeRangeExpectedToLoad: CMTimeRange
        ) {
            let expected = timeRangeExpectedToLoad.duration.seconds
            guard expected > 0 else { return }
            let seconds = downloads.withLock { downloads in
                downloads[ObjectIdentifier(assetDownloadTask), default: Download()].seconds +=
                    timeRange.duration.seconds
                return downloads[ObjectIdentifier(assetDownloadTask)]?.seconds ?? 0
            }
            hear(.progressed(assetDownloadTask.asset, min(1, seconds / expected)))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let download = downloads.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
            if let error {
                hear(.failed(task.asset, error as NSError, download?.location))
            } else if let location = download?.location {
                hear(.finished(task.asset, location))
            } else {
                hear(.failed(task.asset, ContentKeyError.nowhere.nsError, nil))
            }
        }
    }

    extension URLSessionTask {
        /// What the download is for; the system keeps the text between launches.
        fileprivate var asset: AssetID { AssetID(taskDescription ?? "") }
    }
#endif
