// tvOS has no downloads, and watchOS has a different API: `StoredKeys` stores keys alone.
#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    public import AVFoundation
    public import Latchkey

    /// Downloads streams to play without a network: first all keys, then the media.
    ///
    ///     let downloads = OfflineDownloads(loader)
    ///     try await downloads.begin("movie-1", title: "A Movie", from: url, keys: keysOfTheChosenRenditions)
    ///
    /// A title is ready when its media is complete and `loader.offline` says that its keys are stored. To play it, make an
    /// asset of the location's `url` and protect it like any other, with `AVPlayerKeys` and the same loader. To play it while
    /// it downloads, play the asset that is downloading: see `begin(_:title:from:keys:protectedBy:choose:)`. `events` reports
    /// each location: read it from launch on.
    ///
    /// Downloads continue while the app is suspended. Create an instance at each launch, with the same identifier: the system
    /// then reports the downloads of earlier launches to it. Safe to use from any thread.
    public nonisolated final class OfflineDownloads: Sendable {
        /// The identifier of the background session.
        public let identifier: String
        /// The progress and the end of downloads, from the start, for one reader. No event is dropped, so that no location is
        /// lost. Empty if the downloads were created with `onEvent`.
        public let events: AsyncStream<OfflineDownloadEvent>
        private let loader: ContentKeyLoader
        private let options: AVPlayerKeys.Options
        private let storedKeys: StoredKeys
        private let session: DownloadSession

        /// Creates downloads whose owner reads `events`, in a background session with the system's settings.
        public convenience init(
            _ loader: ContentKeyLoader, identifier: String = "latchkey.downloads",
            options: AVPlayerKeys.Options = AVPlayerKeys.Options()
        ) {
            let (events, continuation) = AsyncStream<OfflineDownloadEvent>.makeStream()
            self.init(loader, identifier, options, { _ in }, events) { continuation.yield($0) }
        }

        /// Creates downloads whose events a closure receives.
        /// - Parameters:
        ///   - loader: Gets and stores the keys; its configuration names a key store.
        ///   - identifier: Names the background session of the system, the same at each launch. Defaults to, also if empty,
        ///     `latchkey.downloads`. Two instances with one identifier share the session, and the later one gets its events.
        ///   - options: The options of the key sessions that get the keys.
        ///   - configure: Adjusts the session before it is created, such as `allowsCellularAccess` or `isDiscretionary`.
        ///     Called once for each identifier, before this returns or when the system has ended the session.
        ///   - onEvent: Receives the progress and the end of downloads. Called on a queue of the session.
        public convenience init(
            _ loader: ContentKeyLoader, identifier: String = "latchkey.downloads",
            options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
            configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
            onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void
        ) {
            self.init(loader, identifier, options, configure, AsyncStream { $0.finish() }, onEvent)
        }

        private init(
            _ loader: ContentKeyLoader, _ identifier: String, _ options: AVPlayerKeys.Options,
            _ configure: @escaping @Sendable (URLSessionConfiguration) -> Void,
            _ events: AsyncStream<OfflineDownloadEvent>, _ onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void
        ) {
            self.loader = loader
            self.options = options
            self.events = events
            self.identifier = identifier.isEmpty ? "latchkey.downloads" : identifier
            storedKeys = StoredKeys(loader, options: options)
            session = DownloadSession.named(self.identifier, configure)
            session.report(to: onEvent)
        }
    }

    // MARK: - Keys

    nonisolated extension OfflineDownloads {
        /// Stores the missing keys of a title: `StoredKeys.storeKeys(_:of:)`.
        public func storeKeys(_ keys: Set<KeyURI>, of asset: AssetID) async throws(ContentKeyError) {
            try await storedKeys.storeKeys(keys, of: asset)
        }

        /// Renews the stored keys that are due: `StoredKeys.renewKeys()`.
        @discardableResult
        public func renewKeys() async throws(ContentKeyError) -> [KeyRenewal] { try await storedKeys.renewKeys() }

        /// Renews the keys of a title, due or not: `StoredKeys.renewKeys(of:)`.
        @discardableResult
        public func renewKeys(of asset: AssetID) async throws(ContentKeyError) -> [KeyRenewal] {
            try await storedKeys.renewKeys(of: asset)
        }
    }

    // MARK: - Media

    nonisolated extension OfflineDownloads {
        /// Stores the keys of a title, and then begins to download its media; resumes an existing download.
        ///
        /// The download also requests the asset's keys and gets the stored ones, so the asset is protected before the download begins. To
        /// play the title meanwhile, pass the player's keys and play this asset: they protect it, and the app releases it like any other.
        /// The system starts no download while the app is in the background, unless the session is discretionary.
        /// - Parameters:
        ///   - asset: The title's name in the app's store.
        ///   - title: The name that the system shows in its list of downloads.
        ///   - stream: The multivariant playlist, with the options of its requests, such as cookies or
        ///     `AVURLAssetAllowsCellularAccessKey`.
        ///   - keys: The keys of all chosen renditions, including audio, SD and HD; `loader.keys(of:)` finds them in a playlist.
        ///   - player: The keys that protect the asset. Defaults to `nil`: keys for this download only, which end with it.
        ///   - choose: Chooses the renditions, in AVFoundation's own types.
        /// - Throws: The errors of `storeKeys(_:of:)` and `running()`; then no media is downloaded.
        nonisolated(nonsending)
            public func begin(
                _ asset: AssetID, title: String, from stream: AVURLAsset, keys: Set<KeyURI>,
                protectedBy player: AVPlayerKeys? = nil, choose: (AVAssetDownloadConfiguration) -> Void = { _ in }
            ) async throws(ContentKeyError)
        {
            try await storeKeys(keys, of: asset)
            let isThere = try await running().contains { $0.asset == asset }
            if Task.isCancelled { throw .cancelled }
            if isThere { return resume(asset) }
            let configuration = AVAssetDownloadConfiguration(asset: stream, title: title)
            choose(configuration)
            // Failures here fail the download, which reports them.
            let own = player == nil ? AVPlayerKeys(loader, options: options) { _ in } : nil
            (player ?? own)?.protect(stream, as: asset)
            session.begin(asset, configuration, with: own)
        }

        /// Stores the keys of a title, and then begins to download its media from a URL.
        nonisolated(nonsending)
            public func begin(
                _ asset: AssetID, title: String, from url: URL, keys: Set<KeyURI>,
                choose: (AVAssetDownloadConfiguration) -> Void = { _ in }
            ) async throws(ContentKeyError)
        {
            try await begin(asset, title: title, from: AVURLAsset(url: url), keys: keys, choose: choose)
        }

        /// The unfinished downloads, including those of earlier launches.
        /// - Throws: `deadlineExceeded` if the system does not respond; `cancelled` if the task is cancelled.
        public func running() async throws(ContentKeyError) -> [OfflineDownload] {
            let nothing = "The system did not list its downloads"
            return try await loader.withinDeadline(nothing, otherwise: .downloadFailed) { [session] in
                try await Promise<[OfflineDownload], any Error>.value { list in
                    session.withTasks { tasks in list.resolve(.success(tasks.map(OfflineDownload.init))) }
                }
            }
        }

        /// Pauses the download of a title; no effect if there is none.
        public func pause(_ asset: AssetID) { session.withTasks(of: asset) { $0.suspend() } }

        /// Resumes a paused download; no effect if there is none.
        public func resume(_ asset: AssetID) { session.withTasks(of: asset) { $0.resume() } }

        /// Cancels the download of a title, which the event `cancelled` confirms; no effect if there is none. Its keys stay:
        /// `loader.offline.delete(_:)` removes them.
        public func cancel(_ asset: AssetID) { session.withTasks(of: asset) { $0.cancel() } }

        #if !os(macOS)
            /// Calls the system's completion handler after the events of a background session were handled. Call it from the app
            /// delegate's function of the same name.
            /// - Parameters:
            ///   - identifier: The session that the system names.
            ///   - completionHandler: The system's handler, called once on the main thread after the events were given to `onEvent`.
            /// - Returns: `false` if the session is not this one; then the handler is not called.
            @MainActor @discardableResult
            public func handleEvents(
                forBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
            ) -> Bool {
                guard identifier == self.identifier else { return false }
                session.whenHandled { completionHandler() }
                return true
            }
        #endif
    }
#endif
