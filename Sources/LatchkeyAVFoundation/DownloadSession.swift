#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import Latchkey

    /// A background session of the system. The process has one per identifier for its lifetime: a second one would get the first one's
    /// delegate, and creating a task in an invalidated session raises an exception. Source: `Documentation/Players.md` §3.8.
    nonisolated final class DownloadSession: Sendable {
        private static let sessions = Locked<[String: DownloadSession]>([:])

        private let identifier: String
        private let configure: @Sendable (URLSessionConfiguration) -> Void
        private let listener = DownloadListener()
        private let session = Locked<AVAssetDownloadURLSession?>(nil)

        /// The session of an identifier, with the downloads that the system keeps for it.
        static func named(
            _ identifier: String, _ configure: @escaping @Sendable (URLSessionConfiguration) -> Void
        ) -> DownloadSession {
            sessions.withLock { sessions in
                if let session = sessions[identifier] { return session }
                let session = DownloadSession(identifier, configure)
                sessions[identifier] = session
                return session
            }
        }

        private init(_ identifier: String, _ configure: @escaping @Sendable (URLSessionConfiguration) -> Void) {
            self.identifier = identifier
            self.configure = configure
        }

        /// Delivers events to a closure from now on, including those of downloads from earlier launches.
        func report(to onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void) {
            listener.report(to: onEvent)
            withTasks { [listener] tasks in
                for task in tasks { listener.watch(task) }
            }
        }

        func whenHandled(_ handler: @escaping @MainActor () -> Void) { listener.whenHandled(handler) }

        /// - Parameter keys: The keys that only this download needs.
        func begin(_ asset: AssetID, _ configuration: AVAssetDownloadConfiguration, with keys: AVPlayerKeys?) {
            let task = open().makeAssetDownloadTask(downloadConfiguration: configuration)
            // The system keeps the description between launches.
            task.taskDescription = asset.rawValue
            listener.watch(task, holding: keys)
            task.resume()
        }

        /// Runs a closure with each unfinished download of a title.
        func withTasks(of asset: AssetID, _ body: @escaping @Sendable (URLSessionTask) -> Void) {
            withTasks { tasks in
                for task in tasks where task.asset == asset { body(task) }
            }
        }

        /// Calls a closure with the unfinished downloads, on a queue of the session.
        func withTasks(_ body: @escaping @Sendable ([URLSessionTask]) -> Void) {
            open().getAllTasks { tasks in body(tasks.filter { [.running, .suspended].contains($0.state) }) }
        }

        private func open() -> AVAssetDownloadURLSession {
            if let session = session.withLock({ $0 }) { return session }
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configure(configuration)
            return session.withLock { session in
                // If two threads race, the first one creates it.
                if let session { return session }
                let made = AVAssetDownloadURLSession(
                    configuration: configuration, assetDownloadDelegate: listener, delegateQueue: nil)
                listener.whenInvalid { [weak self] in self?.session.withLock { $0 = nil } }
                session = made
                return made
            }
        }
    }

    nonisolated extension URLSessionTask {
        /// The title being downloaded.
        var asset: AssetID { AssetID(taskDescription ?? "") }
    }

    nonisolated extension OfflineDownload {
        init(_ task: URLSessionTask) {
            self.init(
                asset: task.asset, fractionCompleted: min(1, max(0, task.progress.fractionCompleted)),
                isPaused: task.state == .suspended)
        }
    }
#endif
