#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import Latchkey

    /// The delegate of a download session, which holds it strongly.
    nonisolated final class DownloadListener: NSObject, Sendable {
        private struct Download {
            var location: OfflineLocation?
            /// Released when the download ends.
            var keys: AVPlayerKeys?
            var seconds = 0.0
        }

        private struct State {
            var onEvent: @Sendable (OfflineDownloadEvent) -> Void = { _ in }
            var onInvalid: @Sendable () -> Void = {}
            var downloads: [ObjectIdentifier: Download] = [:]
            /// The system's completion handlers, called after it has delivered its events.
            var handlers: [@MainActor () -> Void] = []
            /// Whether the system has delivered its events and no handler has been called for them.
            var isHandled = false
        }

        #if canImport(ObjectiveC)
            private let progress = DownloadProgress()
        #endif
        private let state = Locked(State())

        func report(to onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void) {
            state.withLock { $0.onEvent = onEvent }
        }

        func whenInvalid(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onInvalid = body } }

        /// Calls a handler after the system has delivered its events; immediately if it already has.
        func whenHandled(_ handler: @escaping @MainActor () -> Void) {
            let isHandled = state.withLock { state in
                defer { state.isHandled = false }
                if !state.isHandled { state.handlers.append(handler) }
                return state.isHandled
            }
            if isHandled { call([handler]) }
        }

        /// Reports a task's progress from now on.
        /// - Parameter keys: Kept until the task ends.
        func watch(_ task: URLSessionTask, holding keys: AVPlayerKeys? = nil) {
            if let keys {
                state.withLock { $0.downloads[ObjectIdentifier(task), default: Download()].keys = keys }
            }
            #if canImport(ObjectiveC)
                progress.watch(task) { [weak self] share in self?.tell(.progressed(task.asset, share)) }
            #endif
        }

        private func tell(_ event: OfflineDownloadEvent) {
            let onEvent = state.withLock { state in
                state.isHandled = false
                return state.onEvent
            }
            onEvent(event)
        }

        private func call(_ handlers: [@MainActor () -> Void]) {
            DispatchQueue.main.async { MainActor.assumeIsolated { for handler in handlers { handler() } } }
        }

        private func locate(_ task: URLSessionTask, _ url: URL) {
            state.withLock { $0.downloads[ObjectIdentifier(task), default: Download()].location = OfflineLocation(url) }
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

        // Deprecated in favor of the task's progress, which needs Objective-C's key-value observing.
        #if !canImport(ObjectiveC)
            func urlSession(
                _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didLoad timeRange: CMTimeRange,
                totalTimeRangesLoaded loadedTimeRanges: [NSValue], timeRangeExpectedToLoad: CMTimeRange
            ) {
                let expected = timeRangeExpectedToLoad.duration.seconds
                guard expected > 0 else { return }
                let seconds = state.withLock { state in
                    state.downloads[ObjectIdentifier(assetDownloadTask), default: Download()].seconds +=
                        timeRange.duration.seconds
                    return state.downloads[ObjectIdentifier(assetDownloadTask)]?.seconds ?? 0
                }
                tell(.progressed(assetDownloadTask.asset, min(1, seconds / expected)))
            }
        #endif

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            #if canImport(ObjectiveC)
                progress.forget(task)
            #endif
            let location = state.withLock { $0.downloads.removeValue(forKey: ObjectIdentifier(task)) }?.location
            switch (error.map { $0 as NSError }, location) {
            case (let error?, _) where error.isCancellation: tell(.cancelled(task.asset, location))
            case (let error?, _):
                tell(.failed(task.asset, .downloadFailed("The system ended the download", error), location))
            case (nil, let location?): tell(.finished(task.asset, location))
            case (nil, nil): tell(.failed(task.asset, .nowhere, nil))
            }
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            state.withLock { $0.onInvalid }()
        }

        #if !os(macOS)
            func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
                let handlers = state.withLock { state in
                    defer { state.handlers = [] }
                    state.isHandled = state.handlers.isEmpty
                    return state.handlers
                }
                call(handlers)
            }
        #endif
    }

    nonisolated extension NSError {
        /// Whether the app or the viewer cancelled a download: the viewer in the system's Live Activity, from version 27. If the system
        /// cancelled it, for example because the viewer quit the app, the error states a reason. Source: `Documentation/Players.md` §3.8.
        fileprivate var isCancellation: Bool {
            switch (domain, code) {
            case (NSCocoaErrorDomain, CocoaError.Code.userCancelled.rawValue): true
            case (NSURLErrorDomain, URLError.Code.cancelled.rawValue):
                userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] == nil
            default: false
            }
        }
    }

    #if canImport(ObjectiveC)
        /// Observes the progress of tasks while they run.
        // Sound: all mutable state is accessed only while the lock is held.
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
