#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import Latchkey

    /// The delegate of a download session, which holds it strongly.
    nonisolated final class DownloadListener: NSObject, Sendable {
        private struct Download {
            var location: OfflineLocation?
            var seconds = 0.0
        }

        private let onEvent: @Sendable (OfflineDownloadEvent) -> Void
        #if canImport(ObjectiveC)
            private let progress = DownloadProgress()
        #endif
        private let downloads = Locked<[ObjectIdentifier: Download]>([:])

        init(_ onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void) {
            self.onEvent = onEvent
            super.init()
        }

        /// Reports a task's progress from now on.
        func watch(_ task: URLSessionTask) {
            #if canImport(ObjectiveC)
                progress.watch(task) { [onEvent] share in onEvent(.progressed(task.asset, share)) }
            #endif
        }

        private func locate(_ task: URLSessionTask, _ url: URL) {
            downloads.withLock { $0[ObjectIdentifier(task), default: Download()].location = OfflineLocation(url) }
        }
    }

    nonisolated extension DownloadListener: AVAssetDownloadDelegate {
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

        // Deprecated in favor of the task's progress, which is observed by key-value observing where there is Objective-C.
        #if !canImport(ObjectiveC)
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
                onEvent(.progressed(assetDownloadTask.asset, min(1, seconds / expected)))
            }
        #endif

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            #if canImport(ObjectiveC)
                progress.forget(task)
            #endif
            let download = downloads.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
            if let error {
                onEvent(.failed(task.asset, error as NSError, download?.location))
            } else if let location = download?.location {
                onEvent(.finished(task.asset, location))
            } else {
                onEvent(.failed(task.asset, ContentKeyError.nowhere.nsError, nil))
            }
        }
    }

    nonisolated extension URLSessionTask {
        /// The title that is downloaded; the system keeps the description between launches.
        fileprivate var asset: AssetID { AssetID(taskDescription ?? "") }
    }

    #if canImport(ObjectiveC)
        /// Observes the progress of tasks as long as they run.
        // Sound: what changes is touched only while the lock is held.
        private nonisolated final class DownloadProgress: @unchecked Sendable {
            private let lock = NSLock()
            private var observations: [ObjectIdentifier: NSKeyValueObservation] = [:]

            func watch(_ task: URLSessionTask, _ onEvent: @escaping @Sendable (Double) -> Void) {
                let observation = task.progress.observe(\.fractionCompleted) { progress, _ in
                    onEvent(min(1, max(0, progress.fractionCompleted)))
                }
                lock.withLock { observations[ObjectIdentifier(task)] = observation }
            }

            func forget(_ task: URLSessionTask) {
                lock.withLock { observations.removeValue(forKey: ObjectIdentifier(task)) }?.invalidate()
            }
        }
    #endif
#endif
