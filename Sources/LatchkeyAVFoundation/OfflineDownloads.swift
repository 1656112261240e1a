// Downloads exist on tvOS and watchOS in other forms, or not at all.
#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    public import AVFoundation
    public import Latchkey

    /// Downloads streams to play without a network: first all keys, then the media.
    ///
    ///     let downloads = OfflineDownloads(loader, configuration: .background(withIdentifier: "app.downloads")) { event in … }
    ///     try await downloads.begin("movie-1", title: "A Movie", from: url, keys: keysOfTheChosenRenditions)
    ///
    /// A title is ready when its media is there and `loader.offline` says that its keys are stored. To play it, make an asset of the
    /// location's `url` and protect it as any other. Make one of these per launch, with the same identifier: the system then reports the
    /// downloads that outlived the app to it.
    public nonisolated final class OfflineDownloads: Sendable {
        private let loader: ContentKeyLoader
        private let options: AVPlayerKeys.Options
        private let session: AVAssetDownloadURLSession
        private let listener: DownloadListener

        /// - Parameters:
        ///   - loader: Gets and stores the keys; its configuration names a key store.
        ///   - configuration: The download session's. Use a background configuration, so that downloads outlive the app.
        ///   - options: The options of the key session that gets the keys.
        ///   - onEvent: Takes the progress and the end of downloads. Called on a queue of the session.
        public init(
            _ loader: ContentKeyLoader, configuration: URLSessionConfiguration,
            options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
            onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void
        ) {
            self.loader = loader
            self.options = options
            listener = DownloadListener(onEvent)
            session = AVAssetDownloadURLSession(
                configuration: configuration, assetDownloadDelegate: listener, delegateQueue: nil)
            // Downloads of an earlier launch.
            session.getAllTasks { [listener] tasks in
                for task in tasks { listener.watch(task) }
            }
        }

        /// Running downloads continue; the session releases its delegate when they are done.
        deinit { session.finishTasksAndInvalidate() }

        /// Stores the keys of a title, and then begins to download its media.
        /// - Parameters:
        ///   - asset: The title's name in the app's store.
        ///   - title: The name that the system shows in its list of downloads.
        ///   - url: The multivariant playlist.
        ///   - keys: The keys of all chosen renditions, audio, SD and HD alike; `loader.preload(_:)` finds them in a playlist.
        ///   - choose: Chooses the renditions, in AVFoundation's own types.
        /// - Throws: What `storeKeys(_:of:)` throws; then no media is downloaded.
        public func begin(
            _ asset: AssetID, title: String, from url: URL, keys: Set<KeyURI>,
            choose: (AVAssetDownloadConfiguration) -> Void = { _ in }
        ) async throws {
            try await storeKeys(keys, of: asset)
            try Task.checkCancellation()
            let configuration = AVAssetDownloadConfiguration(asset: AVURLAsset(url: url), title: title)
            choose(configuration)
            let task = session.makeAssetDownloadTask(downloadConfiguration: configuration)
            task.taskDescription = asset.rawValue
            listener.watch(task)
            task.resume()
        }

        /// Gets and stores those keys of a title that are not stored or have expired.
        ///
        /// Ends at the latest one attempt's timeout after the deadline of the loader's `RetryPolicy`, 40 s by default, whatever the system
        /// does, and at once if its task is cancelled. Keys that were stored until then stay: call it again for the others.
        /// - Throws: `ContentKeyError`, `cancelled` if the system or the loader cancelled a request; `OfflineError`; an `NSError` of
        ///   AVFoundation if it took no key, as after a reset of the media services; `CancellationError`.
        public func storeKeys(_ keys: Set<KeyURI>, of asset: AssetID) async throws {
            guard let offline = loader.offline else {
                throw OfflineError(.keyStoreMissing, "The loader was made without a store.")
            }
            try await fetching(.answers, "The keys were not all stored") { fetch in
                let requested = try await offline.request(asset, keys: keys)
                let missing = requested.keys.filter { ![.stored, .playing].contains($0.state) }.map(\.uri)
                try await fetch.get(Set(missing), for: asset)
                guard try await offline.asset(asset)?.isReady == true else { throw ContentKeyError.notStored }
            }
        }

        /// Renews the stored keys that are due. The media stays, and so does a key that could not be renewed.
        ///
        /// Ends in time, as `storeKeys(_:of:)` does. Keys that were renewed until then stay renewed.
        /// - Returns: The keys that were renewed.
        /// - Throws: As `storeKeys(_:of:)`; `renewalUnsupported` if the vendor does not renew stored keys.
        @discardableResult
        public func renewKeys() async throws -> Set<KeyURI> {
            guard let offline = loader.offline else { return [] }
            return try await fetching(.isReplaced, "The keys were not all renewed") { fetch in
                let due = Set(try await offline.dueForRenewal().map(\.uri))
                try await fetch.get(due)
                return due
            }
        }

        /// Runs a call that gets keys, and ends their requests when the call ends.
        private func fetching<Value: Sendable>(
            _ storedKeys: StoredKeyUse, _ nothing: String, _ body: @escaping @Sendable (KeyFetch) async throws -> Value
        ) async throws -> Value {
            var options = options
            options.storedKeys = storedKeys
            let fetch = KeyFetch(loader, options)
            // Here and not where the keys come from, so that nothing is open once the caller goes on.
            defer { fetch.end() }
            return try await loader.withinDeadline(nothing) { try await body(fetch) }
        }
    }

    /// The progress or the end of a title's download.
    public nonisolated enum OfflineDownloadEvent: Sendable {
        /// This share of the media is there, 0 to 1.
        case progressed(AssetID, Double)
        /// The media is there. Keep the location: the system does not report it again.
        case finished(AssetID, OfflineLocation)
        /// The download failed. What came of the media is at the location, if there is one, and may be resumed or removed.
        case failed(AssetID, NSError, OfflineLocation?)
    }

    /// Where downloaded media is, as a path relative to the app's home folder, which the system moves between launches.
    public nonisolated struct OfflineLocation: Sendable, Hashable, Codable {
        /// The path relative to the home folder; an absolute path, with a slash at its start, if the media is outside of it.
        public let path: String

        /// - Parameters:
        ///   - url: Where the system put the media.
        ///   - home: The app's current home folder.
        public init(_ url: URL, home: String = NSHomeDirectory()) {
            let prefix = home.hasSuffix("/") ? home : home + "/"
            path = url.path.hasPrefix(prefix) ? String(url.path.dropFirst(prefix.count)) : url.path
        }

        /// Where the media is, in the current home folder.
        public var url: URL { url(home: NSHomeDirectory()) }

        /// Where the media is, in a given home folder.
        public func url(home: String) -> URL {
            URL(fileURLWithPath: path.hasPrefix("/") ? path : "\(home)/\(path)")
        }
    }
#endif
